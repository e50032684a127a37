import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SequenceSet } from './sequence-set.js';

test('a set knows what was added, however far apart', () => {
  const set = new SequenceSet();
  for (const sequence of [0, 7, 8, 100_000]) assert.equal(set.add(sequence), true);
  assert.equal(set.add(8), false);
  assert.equal(set.count, 4);
  assert.equal(set.highest, 100_000);
  assert.deepEqual(
    [0, 1, 7, 8, 9, 99_999, 100_000, 100_001].filter((sequence) => set.has(sequence)),
    [0, 7, 8, 100_000],
  );
});

test('a set comes back from its bytes', () => {
  const set = new SequenceSet();
  for (const sequence of [3, 4, 77]) set.add(sequence);
  const copy = new SequenceSet(set.toBytes());
  assert.equal(copy.count, 3);
  assert.equal(copy.highest, 77);
  assert.deepEqual([...set.missingIn(copy)], []);
  copy.add(78);
  assert.deepEqual([...copy.missingIn(set)], [78]);
});
