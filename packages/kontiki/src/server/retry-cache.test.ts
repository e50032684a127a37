import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RetryCache } from './retry-cache.js';
import type { WriteOutcome } from './retry-records.js';

const CLIENT = Uint8Array.from({ length: 16 }, (_, i) => i);
const OTHER = Uint8Array.from({ length: 16 }, (_, i) => 255 - i);

function outcome(logIndex: number, message?: Uint8Array): WriteOutcome {
  return { logIndex, message, failure: undefined, commitInfos: [] };
}

test('R-2: an unknown call is absent, a started one pending, an applied one done', () => {
  const cache = new RetryCache<object>(60_000);
  assert.equal(cache.query(CLIENT, 1).kind, 'absent');
  const pending = {};
  cache.setPending(CLIENT, 1, pending);
  assert.deepEqual(cache.query(CLIENT, 1), { kind: 'pending', pending });
  assert.equal(cache.query(OTHER, 1).kind, 'absent');
  assert.equal(cache.complete(CLIENT, 1, outcome(7, Uint8Array.of(1, 2)), 0), pending);
  const found = cache.query(CLIENT, 1);
  assert.equal(found.kind, 'done');
  assert.deepEqual(found.kind === 'done' && found.outcome, outcome(7, Uint8Array.of(1, 2)));
});

test('R-3: a failed write is forgotten, but not one that took its place', () => {
  const cache = new RetryCache<object>(60_000);
  const first = {};
  const second = {};
  cache.setPending(CLIENT, 1, first);
  cache.fail(CLIENT, 1, first);
  assert.equal(cache.query(CLIENT, 1).kind, 'absent');
  cache.setPending(CLIENT, 1, second);
  cache.fail(CLIENT, 1, first);
  assert.equal(cache.query(CLIENT, 1).kind, 'pending');
});

test('R-4, R-5: completing twice keeps the first outcome', () => {
  const cache = new RetryCache<object>(60_000);
  cache.complete(CLIENT, 5, outcome(3), 0);
  assert.equal(cache.complete(CLIENT, 5, outcome(9), 0), undefined);
  const found = cache.query(CLIENT, 5);
  assert.equal(found.kind === 'done' && found.outcome.logIndex, 3);
});

test('an application error and the commit infos come back as they were', () => {
  const cache = new RetryCache<object>(60_000);
  const commitInfos: WriteOutcome['commitInfos'] = [];
  const failed: WriteOutcome = {
    logIndex: 4,
    message: undefined,
    failure: { causeClass: 'RangeError', causeMessage: 'too "large"' },
    commitInfos,
  };
  cache.complete(CLIENT, 2n ** 60n, failed, 0);
  const found = cache.query(CLIENT, 2n ** 60n);
  assert.deepEqual(found.kind === 'done' && found.outcome, failed);
  assert.equal(found.kind === 'done' && found.outcome.commitInfos, commitInfos);
});

test('R-1: outcomes are kept for the expiry time, and dropped some time after it', () => {
  const cache = new RetryCache<object>(1000);
  for (let i = 0; i < 500; i++) cache.complete(CLIENT, i, outcome(i), i);
  cache.expire(1000);
  assert.equal(cache.query(CLIENT, 0).kind, 'done');
  cache.expire(1999);
  assert.equal(cache.query(CLIENT, 0).kind, 'absent');
  assert.equal(cache.statistics.size, 0);
  assert.equal(cache.recordBytes, 0);
});

test('R-6: replied call ids are forgotten and their memory is freed', () => {
  const cache = new RetryCache<object>(60_000);
  for (let i = 0; i < 20_000; i++) {
    cache.complete(CLIENT, i, outcome(i), 0);
    cache.forget(CLIENT, [i]);
  }
  assert.equal(cache.query(CLIENT, 17).kind, 'absent');
  assert.ok(cache.recordBytes <= 512 * 1024, `${cache.recordBytes} bytes`);
});

test('a follower keeps 100,000 outcomes in a few dozen bytes each', () => {
  const cache = new RetryCache<object>(60_000);
  for (let i = 0; i < 100_000; i++) cache.complete(CLIENT, i, outcome(i), i / 2);
  assert.ok(cache.recordBytes < 100_000 * 40, `${cache.recordBytes} bytes`);
  const found = cache.query(CLIENT, 99_999);
  assert.equal(found.kind === 'done' && found.outcome.logIndex, 99_999);
});

test('clients that take turns are told apart, also after one was forgotten', () => {
  const cache = new RetryCache<object>(60_000);
  for (const callId of [1, 2]) {
    cache.complete(CLIENT, callId, outcome(callId), 0);
    cache.complete(OTHER, callId, outcome(10 + callId), 0);
  }
  cache.forget(OTHER, [1, 2]);
  assert.equal(cache.query(OTHER, 1).kind, 'absent');
  const found = cache.query(CLIENT, 1);
  assert.equal(found.kind === 'done' && found.outcome.logIndex, 1);
  cache.complete(OTHER, 1, outcome(21), 0);
  const again = cache.query(OTHER, 1);
  assert.equal(again.kind === 'done' && again.outcome.logIndex, 21);
});
