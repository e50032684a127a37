import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Random } from '../../common/runtime.js';
import { TimeDuration } from '../../config/time-duration.js';
import { GroupMismatchException, RaftException } from '../exceptions.js';
import { ExceptionDependentRetry } from './exception-dependent.js';
import { ExponentialBackoffRetry } from './exponential-backoff.js';
import { MultipleLinearRandomRetry } from './multiple-linear-random.js';
import type { RetryEvent, RetryPolicy } from './policy.js';
import { RequestTypeDependentRetryPolicy } from './request-type-dependent.js';
import {
  NO_RETRY,
  RETRY_FOREVER_NO_SLEEP,
  RetryForeverWithSleep,
  RetryLimited,
} from './simple-policies.js';

const BAD_ARGUMENT = { code: 'KONTIKI_INVALID_ARGUMENT' };
const SECOND = TimeDuration.of(1, 's');

function fixedRandom(value: number): Random {
  return { nextUint32: () => value, bytes: (count) => new Uint8Array(count) };
}

/** Makes the random factor 1. */
const MIDDLE = fixedRandom(0x8000_0000);

function event(fields: Partial<RetryEvent>): RetryEvent {
  return {
    attemptCount: 1,
    causeCount: 0,
    cause: undefined,
    requestKind: undefined,
    elapsedMs: 0,
    ...fields,
  };
}

/** Pause after each of the attempts; undefined where there is no further one. */
function pauses(policy: RetryPolicy, attempts: readonly number[]): (number | undefined)[] {
  return attempts.map((attemptCount) => {
    const { shouldRetry, sleepMs } = policy.handle(event({ attemptCount }));
    return shouldRetry ? sleepMs : undefined;
  });
}

test('retries for ever without a pause, or never', () => {
  assert.deepEqual(pauses(RETRY_FOREVER_NO_SLEEP, [1, 1e9]), [0, 0]);
  assert.deepEqual(pauses(NO_RETRY, [1]), [undefined]);
});

test('retries for ever with a pause', () => {
  assert.deepEqual(pauses(new RetryForeverWithSleep(SECOND), [1, 1e9]), [1000, 1000]);
});

test('makes at most the limit of attempts', () => {
  assert.deepEqual(pauses(new RetryLimited(3, SECOND), [1, 2, 3]), [1000, 1000, undefined]);
  assert.deepEqual(pauses(new RetryLimited(0, SECOND), [1]), [undefined]);
});

test('doubles the pause with each attempt up to the longest one', () => {
  const policy = new ExponentialBackoffRetry(
    {
      baseSleepTime: TimeDuration.of(100, 'ms'),
      maxSleepTime: TimeDuration.of(1, 's'),
      maxAttempts: 5,
    },
    MIDDLE,
  );
  assert.deepEqual(pauses(policy, [0, 1, 2, 3, 4, 5]), [100, 200, 400, 800, 1000, undefined]);
});

test('gives a finite pause after very many attempts without a longest one', () => {
  const policy = new ExponentialBackoffRetry({ baseSleepTime: SECOND }, MIDDLE);
  const [sleepMs = Number.NaN] = pauses(policy, [5000]);
  assert.ok(Number.isFinite(sleepMs));
});

test('varies pauses from half to one and a half', () => {
  const parameters = { baseSleepTime: SECOND, maxSleepTime: SECOND };
  const [low] = pauses(new ExponentialBackoffRetry(parameters, fixedRandom(0)), [1]);
  const [high = 0] = pauses(new ExponentialBackoffRetry(parameters, fixedRandom(2 ** 32 - 1)), [1]);
  assert.equal(low, 500);
  assert.ok(high > 1499 && high < 1500);
});

test('walks pairs of pause and count (spec: consensus Appendix A)', () => {
  const policy = new MultipleLinearRandomRetry(
    [
      { sleepTime: TimeDuration.of(1, 'ms'), count: 10 },
      { sleepTime: SECOND, count: 20 },
      { sleepTime: TimeDuration.of(5, 's'), count: 1000 },
    ],
    MIDDLE,
  );
  assert.deepEqual(pauses(policy, [1, 10, 11, 30, 31, 1030, 1031]), [
    1,
    1,
    1000,
    1000,
    5000,
    5000,
    undefined,
  ]);
});

test('chooses by the exact class of the cause and counts that class only', () => {
  const policy = new ExceptionDependentRetry({
    defaultPolicy: new RetryLimited(2, SECOND),
    policies: [[GroupMismatchException, new RetryLimited(3, TimeDuration.of(7, 'ms'))]],
    maxAttempts: 10,
  });
  const handle = (cause: Error | undefined, causeCount: number, attemptCount = 5) =>
    policy.handle(event({ cause, causeCount, attemptCount }));
  const mismatch = new GroupMismatchException('x');
  assert.deepEqual(handle(mismatch, 2), { shouldRetry: true, sleepMs: 7 });
  assert.equal(handle(mismatch, 3).shouldRetry, false);
  assert.equal(handle(mismatch, 1, 10).shouldRetry, false);
  assert.deepEqual(handle(new Error('other'), 1), { shouldRetry: true, sleepMs: 1000 });
  assert.equal(handle(new Error('other'), 2).shouldRetry, false);
  assert.deepEqual(handle(undefined, 0, 9), { shouldRetry: true, sleepMs: 1000 });
});

test('does not match a subclass', () => {
  class Special extends GroupMismatchException {}
  const policy = new ExceptionDependentRetry({
    defaultPolicy: NO_RETRY,
    policies: [
      [GroupMismatchException, RETRY_FOREVER_NO_SLEEP],
      [RaftException, RETRY_FOREVER_NO_SLEEP],
    ],
  });
  const action = policy.handle(event({ cause: new Special('x'), causeCount: 1 }));
  assert.equal(action.shouldRetry, false);
});

test('chooses by the kind of request and ends at its time', () => {
  const policy = new RequestTypeDependentRetryPolicy({
    policies: [['WRITE', NO_RETRY]],
    timeouts: [['WATCH', 100]],
  });
  const retries = (fields: Partial<RetryEvent>): boolean =>
    policy.handle(event(fields)).shouldRetry;
  assert.equal(retries({ requestKind: 'WRITE' }), false);
  assert.equal(retries({ requestKind: 'READ' }), true);
  assert.equal(retries({ requestKind: 'WATCH', elapsedMs: 99.9 }), true);
  assert.equal(retries({ requestKind: 'WATCH', elapsedMs: 100 }), false);
  assert.equal(retries({}), true);
});

test('refuses parameters out of range', () => {
  const negative = TimeDuration.of(-1, 'ms');
  const zero = TimeDuration.of(0, 'ms');
  for (const make of [
    () => new RetryForeverWithSleep(negative),
    () => new RetryLimited(-1, SECOND),
    () => new RetryLimited(1.5, SECOND),
    () => new ExponentialBackoffRetry({ baseSleepTime: zero }, MIDDLE),
    () => new ExponentialBackoffRetry({ baseSleepTime: SECOND, maxSleepTime: zero }, MIDDLE),
    () => new ExponentialBackoffRetry({ baseSleepTime: SECOND, maxAttempts: -1 }, MIDDLE),
    () => new MultipleLinearRandomRetry([], MIDDLE),
    () => new MultipleLinearRandomRetry([{ sleepTime: zero, count: 1 }], MIDDLE),
    () => new MultipleLinearRandomRetry([{ sleepTime: SECOND, count: 0 }], MIDDLE),
  ]) {
    assert.throws(make, BAD_ARGUMENT);
  }
});

test('refuses a class, a kind or a time that is given twice', () => {
  const twice = [
    [Error, NO_RETRY],
    [Error, NO_RETRY],
  ] as const;
  assert.throws(
    () => new ExceptionDependentRetry({ defaultPolicy: NO_RETRY, policies: twice }),
    BAD_ARGUMENT,
  );
  const policies = [
    ['READ', NO_RETRY],
    ['READ', NO_RETRY],
  ] as const;
  assert.throws(() => new RequestTypeDependentRetryPolicy({ policies }), BAD_ARGUMENT);
  const timeouts = [
    ['READ', 1],
    ['READ', 2],
  ] as const;
  assert.throws(() => new RequestTypeDependentRetryPolicy({ timeouts }), BAD_ARGUMENT);
});

test('prints each policy as the field knows it', () => {
  const hundredMs = TimeDuration.of(100, 'ms');
  assert.deepEqual(
    [
      RETRY_FOREVER_NO_SLEEP,
      NO_RETRY,
      new RetryForeverWithSleep(hundredMs),
      new RetryLimited(3, SECOND),
      new MultipleLinearRandomRetry(
        [
          { sleepTime: TimeDuration.of(1, 'ms'), count: 10 },
          { sleepTime: SECOND, count: 20 },
        ],
        MIDDLE,
      ),
      new ExceptionDependentRetry({
        defaultPolicy: NO_RETRY,
        policies: [[GroupMismatchException, RETRY_FOREVER_NO_SLEEP]],
        maxAttempts: 4,
      }),
      new RequestTypeDependentRetryPolicy({ policies: [['WRITE', NO_RETRY]] }),
    ].map(String),
    [
      'RetryForeverNoSleep',
      'NoRetry',
      'RetryForeverWithSleep(sleepTime = 100ms)',
      'RetryLimited(maxAttempts=3, sleepTime=1s)',
      'MultipleLinearRandomRetry[10x1ms, 20x1s]',
      'ExceptionDependentRetry(maxAttempts=4; defaultPolicy=NoRetry; ' +
        'map={GroupMismatchException->RetryForeverNoSleep})',
      'RequestTypeDependentRetryPolicy{WRITE->NoRetry}',
    ],
  );
});
