import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ExponentialBackoffRetry } from './exponential-backoff.js';
import { pauseOfAttempt } from './multiple-linear-random.js';
import { parseRetryPauses, parseRetryPolicy } from './parse.js';

const KEY = 'raft.server.log.appender.retry.policy';
const MIDDLE = { nextUint32: () => 0x8000_0000, bytes: (count: number) => new Uint8Array(count) };

test('reads pairs with and without the name of the class', () => {
  for (const text of ['1ms,10, 1s,20', 'MultipleLinearRandomRetry, 1,1_0 ,1 s,20']) {
    assert.equal(
      String(parseRetryPolicy(text, KEY, MIDDLE)),
      'MultipleLinearRandomRetry[10x1ms, 20x1s]',
    );
  }
});

test('reads exponential back-off, milliseconds by default', () => {
  const policy = parseRetryPolicy(' ExponentialBackoffRetry , 100, 5s, 3', KEY, MIDDLE);
  assert.ok(policy instanceof ExponentialBackoffRetry);
  assert.deepEqual(
    [1, 2, 3].map((attemptCount) => policy.handle({ attemptCount })),
    [
      { shouldRetry: true, sleepMs: 200 },
      { shouldRetry: true, sleepMs: 400 },
      { shouldRetry: false, sleepMs: 0 },
    ],
  );
});

for (const text of [
  '',
  'NoRetry',
  'Other,1ms,2',
  '0ms,10',
  '-1ms,10',
  '1ms',
  '1ms,10,1s',
  '1ms,0',
  '1ms,x',
  '1ms,10,0s,1',
  'MultipleLinearRandomRetry',
  'ExponentialBackoffRetry,1ms,5s',
  'ExponentialBackoffRetry,1ms,5s,3,4',
  'ExponentialBackoffRetry,5s,1ms,3',
  'ExponentialBackoffRetry,0,1ms,3',
  'ExponentialBackoffRetry,1ms,5s,-1',
]) {
  test(`refuses "${text}" as a retry policy and names the key`, () => {
    const expected = { code: 'KONTIKI_CONFIG_INVALID', key: KEY, message: new RegExp(KEY) };
    assert.throws(() => parseRetryPolicy(text, KEY, MIDDLE), expected);
    assert.throws(() => parseRetryPauses(text, KEY), expected);
  });
}

test("gives the appender's pauses by count of errors (spec: consensus 3.3, H-19)", () => {
  const pauses = parseRetryPauses('1ms,10, 1s,20, 5s,1000', KEY);
  assert.deepEqual(pauses, [
    [1, 10],
    [1000, 20],
    [5000, 1000],
  ]);
  const counted = pauses.map(([sleepMs, count]) => ({ sleepMs, count }));
  assert.deepEqual(
    [1, 10, 11, 30, 31, 1030, 1031].map((c) => pauseOfAttempt(counted, c)?.sleepMs),
    [1, 1, 1000, 1000, 5000, 5000, undefined],
  );
});

test('turns exponential back-off into pauses up to the longest one', () => {
  assert.deepEqual(parseRetryPauses('ExponentialBackoffRetry,100ms,1s,2147483647', KEY), [
    [200, 1],
    [400, 1],
    [800, 1],
    [1000, 2_147_483_643],
  ]);
  assert.deepEqual(parseRetryPauses('ExponentialBackoffRetry,100ms,1s,1', KEY), []);
});
