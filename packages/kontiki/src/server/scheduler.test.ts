import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Runtime } from '../common/runtime.js';
import { Scheduler, type Wakeup } from './scheduler.js';

/** A clock that the test turns, with timers and deferred calls that it runs. */
class ManualRuntime {
  now = 0;
  readonly timers: { atMs: number; callback: () => void }[] = [];
  readonly deferred: (() => void)[] = [];

  get runtime(): Runtime {
    return {
      clock: { nowMs: () => this.now, wallTimeMs: () => 0 },
      random: { nextUint32: () => 0, bytes: (count) => new Uint8Array(count) },
      timers: {
        schedule: (delayMs, callback) => {
          const timer = { atMs: this.now + delayMs, callback };
          this.timers.push(timer);
          return { cancel: () => this.#remove(timer) };
        },
        defer: (callback) => this.deferred.push(callback),
        enqueue: (callback) => callback(),
      },
    };
  }

  /** Moves the clock, then fires what is due. */
  advanceTo(nowMs: number): void {
    this.now = nowMs;
    for (const timer of this.timers.filter((one) => one.atMs <= nowMs)) {
      this.#remove(timer);
      timer.callback();
    }
  }

  #remove(timer: { atMs: number; callback: () => void }): void {
    const at = this.timers.indexOf(timer);
    if (at >= 0) this.timers.splice(at, 1);
  }
}

function wakeup(name: string, calls: string[]): Wakeup {
  return { wakeAtMs: 0, heapIndex: -1, onWakeup: (nowMs) => void calls.push(`${name}@${nowMs}`) };
}

test('wake-ups come in the order of their times, with one timer set', () => {
  const manual = new ManualRuntime();
  const scheduler = new Scheduler(manual.runtime);
  const calls: string[] = [];
  const order = [30, 10, 50, 20, 40];
  for (const atMs of order) scheduler.set(wakeup(String(atMs), calls), atMs);
  assert.equal(manual.timers.length, 1);
  for (const nowMs of [10, 20, 30, 40, 50]) manual.advanceTo(nowMs);
  assert.deepEqual(calls, ['10@10', '20@20', '30@30', '40@40', '50@50']);
  assert.equal(manual.timers.length, 0);
});

test('a wake-up can be moved and taken away', () => {
  const manual = new ManualRuntime();
  const scheduler = new Scheduler(manual.runtime);
  const calls: string[] = [];
  const moved = wakeup('moved', calls);
  const gone = wakeup('gone', calls);
  scheduler.set(moved, 10);
  scheduler.set(gone, 10);
  scheduler.set(moved, 30);
  scheduler.set(gone, Number.POSITIVE_INFINITY);
  manual.advanceTo(15);
  assert.deepEqual(calls, []);
  manual.advanceTo(30);
  assert.deepEqual(calls, ['moved@30']);
});

test('E-2: a timer that fires late lets waiting input be read first', () => {
  const manual = new ManualRuntime();
  const scheduler = new Scheduler(manual.runtime);
  const calls: string[] = [];
  scheduler.set(wakeup('a', calls), 10);
  manual.advanceTo(500);
  assert.deepEqual(calls, []);
  for (const callback of manual.deferred) callback();
  assert.deepEqual(calls, ['a@500']);
});
