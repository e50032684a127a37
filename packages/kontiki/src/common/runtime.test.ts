import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, randomInteger } from './runtime.js';

function fixedRandom(value: number): Random {
  return { nextUint32: () => value, bytes: (count) => new Uint8Array(count) };
}

test('draws from both ends of the range (spec: E-1)', () => {
  assert.equal(randomInteger(fixedRandom(0), 150, 300), 150);
  assert.equal(randomInteger(fixedRandom(0xffff_ffff), 150, 300), 300);
});

test('gives each number of a small range the same share', () => {
  const counts = [0, 0, 0, 0];
  for (let i = 0; i < 4000; i++) {
    const drawn = randomInteger(fixedRandom(Math.floor((i / 4000) * 2 ** 32)), 5, 8);
    counts[drawn - 5] = (counts[drawn - 5] ?? 0) + 1;
  }
  assert.deepEqual(counts, [1000, 1000, 1000, 1000]);
});

test('gives the least number when the range is empty', () => {
  assert.equal(randomInteger(fixedRandom(0xffff_ffff), 5, 3), 5);
});
