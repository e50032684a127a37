import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editDistance } from './edit-distance.js';

const CASES: readonly [a: string, b: string, distance: number][] = [
  ['', '', 0],
  ['', 'abc', 3],
  ['abc', '', 3],
  ['same', 'same', 0],
  ['kitten', 'sitting', 3],
  ['timout', 'timeout', 1],
];

for (const [a, b, distance] of CASES) {
  test(`counts ${distance} changes from "${a}" to "${b}"`, () => {
    assert.equal(editDistance(a, b), distance);
    assert.equal(editDistance(b, a), distance);
  });
}
