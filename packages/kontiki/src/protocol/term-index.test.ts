import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  compareTermIndex,
  equalTermIndex,
  formatTermIndex,
  INITIAL_TERM_INDEX,
} from './term-index.js';

test('orders by term, then by index (spec: consensus 0.1)', () => {
  const sorted = [
    { term: 2, index: 0 },
    INITIAL_TERM_INDEX,
    { term: 1, index: 9 },
    { term: 1, index: 2 },
  ].sort(compareTermIndex);
  assert.deepEqual(sorted.map(formatTermIndex), [
    '(t:0, i:-1)',
    '(t:1, i:2)',
    '(t:1, i:9)',
    '(t:2, i:0)',
  ]);
});

test('takes two absent positions as equal, and none as equal to a present one', () => {
  assert.ok(equalTermIndex(undefined, undefined));
  assert.ok(equalTermIndex({ term: 1, index: 2 }, { term: 1, index: 2 }));
  assert.ok(!equalTermIndex({ term: 1, index: 2 }, { term: 2, index: 2 }));
  assert.ok(!equalTermIndex({ term: 1, index: 2 }, { term: 1, index: 3 }));
  assert.ok(!equalTermIndex(undefined, INITIAL_TERM_INDEX));
  assert.equal(formatTermIndex(undefined), 'none');
});
