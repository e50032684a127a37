import assert from 'node:assert/strict';
import { test } from 'node:test';
import { closedLoop } from './load.js';

const QUIET = { onPhase: () => undefined, onProgress: () => undefined };

test('a closed loop keeps as many requests under way as it was told', async () => {
  let underWay = 0;
  let most = 0;
  const numbers: number[] = [];
  const phases: string[] = [];
  const result = await closedLoop({
    ...QUIET,
    inFlight: 4,
    warmupSeconds: 0.05,
    seconds: 0.2,
    onPhase: (phase) => phases.push(phase),
    send: async (number) => {
      numbers.push(number);
      most = Math.max(most, ++underWay);
      await new Promise((resolve) => setTimeout(resolve, 2));
      underWay--;
    },
  });
  assert.equal(most, 4);
  assert.equal(underWay, 0);
  assert.equal(result.total, numbers.length);
  assert.deepEqual(
    numbers,
    numbers.map((_, i) => i),
  );
  assert.ok(result.count > 0 && result.count < result.total);
  assert.equal(result.perSecond, result.count / 0.2);
  assert.ok(result.latencyMs.percentile(0.5) >= 1.5);
  assert.deepEqual(phases, ['measure', 'drain']);
});

test('a closed loop ends when a request fails', async () => {
  const send = async (number: number) => {
    await new Promise((resolve) => setTimeout(resolve, 1));
    if (number === 5) throw new Error('refused');
  };
  const load = closedLoop({ ...QUIET, inFlight: 2, warmupSeconds: 0, seconds: 60, send });
  await assert.rejects(load, /refused/);
});
