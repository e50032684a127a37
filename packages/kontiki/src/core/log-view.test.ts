import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AssertionFailedError } from '../common/errors.js';
import type { TermIndex } from '../protocol/term-index.js';
import { LogView } from './log-view.js';

function view(
  runs: TermIndex[],
  startIndex: number,
  lastIndex: number,
  snapshot?: TermIndex,
): LogView {
  return new LogView({ startIndex, lastIndex, termRuns: runs, snapshot, commitIndex: -1 });
}

function sample(): LogView {
  return view(
    [
      { term: 1, index: 0 },
      { term: 3, index: 4 },
      { term: 4, index: 9 },
    ],
    0,
    12,
  );
}

test('terms are found in their runs', () => {
  const log = sample();
  const terms = [-1, 0, 3, 4, 8, 9, 12, 13].map((index) => log.termAt(index));
  assert.deepEqual(terms, [undefined, 1, 1, 3, 3, 4, 4, undefined]);
});

test('an empty log has no last entry and begins at 0', () => {
  const log = view([], 0, -1);
  assert.equal(log.lastEntry, undefined);
  assert.equal(log.nextIndex, 0);
});

test('an empty log behind a snapshot goes on from it (0.2)', () => {
  const log = view([], 0, -1, { term: 2, index: 7 });
  assert.deepEqual(log.lastEntry, { term: 2, index: 7 });
  assert.equal(log.nextIndex, 8);
  assert.deepEqual(log.previousOf(8), { term: 2, index: 7 });
  assert.equal(log.contains({ term: 2, index: 7 }), true);
});

test('a log that ends before the snapshot is superseded by it', () => {
  const log = view([{ term: 1, index: 0 }], 0, 5, { term: 2, index: 7 });
  assert.equal(log.isEmpty, true);
  assert.equal(log.nextIndex, 8);
});

test('truncation removes whole runs and cuts one', () => {
  const log = sample();
  log.truncate(6);
  assert.deepEqual(log.lastEntry, { term: 3, index: 5 });
  log.append(7, 6);
  assert.deepEqual(
    [5, 6, 7].map((i) => log.termAt(i)),
    [3, 7, undefined],
  );
});

test('a gap, and a term that falls, are errors of our own', () => {
  const log = sample();
  assert.throws(() => log.append(4, 14), AssertionFailedError);
  assert.throws(() => log.append(3, 13), AssertionFailedError);
  assert.throws(() => log.truncate(13), AssertionFailedError);
});

test('purged entries are unknown, except the one of the snapshot', () => {
  const log = sample();
  log.setSnapshot({ term: 3, index: 6 });
  log.purge(7);
  assert.deepEqual(
    [3, 5, 6, 7, 9].map((i) => log.termAt(i)),
    [undefined, undefined, 3, 3, 4],
  );
  assert.equal(log.startIndex, 7);
  log.purge(3);
  assert.equal(log.startIndex, 7);
});

test('a snapshot beyond the log starts the log anew behind it', () => {
  const log = sample();
  assert.equal(log.setSnapshot({ term: 9, index: 40 }), true);
  assert.equal(log.nextIndex, 41);
  log.append(9, 41);
  assert.deepEqual(log.previousOf(41), { term: 9, index: 40 });
  assert.equal(log.setSnapshot({ term: 4, index: 12 }), false);
});
