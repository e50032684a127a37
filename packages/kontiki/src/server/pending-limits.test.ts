import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PendingLimits } from './pending-limits.js';

const MB = 1024 * 1024;

test('counts whole megabytes as the worked values say', () => {
  const cases: [number, number, number, number][] = [
    [0, 0, 1, 0],
    [1.5, 0, 2, 1],
    [1, 1, 1, 1],
    [0.2, 0.9, 1, 1],
  ];
  for (const [z, before, needed, kept] of cases) {
    for (const limit of [needed, needed - 1]) {
      const held = occupied(before);
      const tight = new PendingLimits(10, (held + limit) * MB);
      if (before > 0) assert.equal(tight.acquire(before * MB), limit === 0 ? 'bytes' : undefined);
      if (before > 0 && limit === 0) continue;
      assert.equal(tight.acquire(z * MB), limit === needed ? undefined : 'bytes');
      if (limit === needed) {
        assert.equal(tight.megabytes - held, kept, `z ${z}, t ${before}`);
        tight.release(z * MB);
      }
      assert.equal(tight.megabytes, held);
    }
  }
});

/** Megabytes that `megabytes` of earlier requests keep. */
function occupied(megabytes: number): number {
  const limits = new PendingLimits(10, 64 * MB);
  if (megabytes > 0) limits.acquire(megabytes * MB);
  return limits.megabytes;
}

test('refuses by elements, and frees by release', () => {
  const limits = new PendingLimits(2, 64 * MB);
  assert.equal(limits.acquire(10), undefined);
  assert.equal(limits.acquire(10), undefined);
  assert.equal(limits.acquire(10), 'elements');
  limits.release(10);
  assert.equal(limits.acquire(10), undefined);
  assert.equal(limits.elementRefusals, 1);
});

test('refuses by bytes, all or nothing, with the limit rounded down', () => {
  const limits = new PendingLimits(100, 2.9 * MB);
  assert.equal(limits.acquire(1.5 * MB), undefined);
  assert.equal(limits.acquire(1.5 * MB), 'bytes');
  assert.equal(limits.byteRefusals, 1);
  limits.release(1.5 * MB);
  assert.equal(limits.megabytes, 0);
  assert.equal(limits.bytes, 0);
});

test('a closed limit refuses everything', () => {
  const limits = new PendingLimits(100, 64 * MB);
  limits.close();
  assert.equal(limits.acquire(1), 'closed');
});
