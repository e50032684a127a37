import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NULL_LOGGER } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import { PauseMonitor } from './pause-monitor.js';

/** What a monitor does after pauses of these lengths. */
function actionsAfter(pausesMs: readonly number[]): string[] {
  const actions: string[] = [];
  let nowMs = 0;
  let pending: (() => void) | undefined;
  const runtime = {
    clock: { nowMs: () => nowMs },
    timers: {
      schedule: (_delayMs: number, callback: () => void) => {
        pending = callback;
        return {
          cancel: () => {
            pending = undefined;
          },
        };
      },
    },
  } as unknown as Runtime;
  const monitor = new PauseMonitor({
    runtime,
    logger: NULL_LOGGER,
    thresholdMs: 300,
    stepDownMs: 10_000,
    closeMs: 60_000,
    stepDown: () => actions.push('step down'),
    close: () => actions.push('close'),
  });
  monitor.start();
  for (const pauseMs of pausesMs) {
    nowMs += 300 + pauseMs;
    pending?.();
  }
  monitor.stop();
  assert.equal(pending, undefined);
  return actions;
}

test('short pauses are only logged', () => {
  assert.deepEqual(actionsAfter([0, 200, 9_999]), []);
});

test('a leader steps down after a long pause, and a server closes after a very long one', () => {
  assert.deepEqual(actionsAfter([10_001, 60_001]), ['step down', 'close']);
});
