import { InvalidArgumentError } from '../../common/errors.js';
import type { Random } from '../../common/runtime.js';
import type { TimeDuration } from '../../config/time-duration.js';
import {
  jitter,
  NO_RETRY_ACTION,
  type RetryAction,
  type RetryEvent,
  type RetryPolicy,
} from './policy.js';

/** A pause and how many times it is made. */
export interface RetryPause {
  readonly sleepTime: TimeDuration;
  readonly count: number;
}

/** The pause of the n-th attempt, n from 1; undefined past the last pair (spec: client 7). */
export function pauseOfAttempt<P extends { readonly count: number }>(
  pauses: readonly P[],
  attemptCount: number,
): P | undefined {
  let rest = attemptCount;
  for (const pause of pauses) {
    if (rest <= pause.count) return pause;
    rest -= pause.count;
  }
  return undefined;
}

/** Goes through pairs of pause and count; pauses get a random factor (spec: client 7). */
export class MultipleLinearRandomRetry implements RetryPolicy {
  readonly pauses: readonly RetryPause[];
  private readonly random: Random;

  /** Throws InvalidArgumentError without pairs, and on a time or count that is not positive. */
  constructor(pauses: readonly RetryPause[], random: Random) {
    if (pauses.length === 0) throw new InvalidArgumentError('there is no pair of pause and count');
    for (const { sleepTime, count } of pauses) {
      if (sleepTime.count <= 0n) {
        throw new InvalidArgumentError(`sleepTime = ${sleepTime} is non-positive.`);
      }
      if (!Number.isInteger(count) || count <= 0) {
        throw new InvalidArgumentError(`count = ${count} is non-positive.`);
      }
    }
    this.pauses = [...pauses];
    this.random = random;
  }

  handle(event: Pick<RetryEvent, 'attemptCount'>): RetryAction {
    const pause = pauseOfAttempt(this.pauses, event.attemptCount);
    if (pause === undefined) return NO_RETRY_ACTION;
    return { shouldRetry: true, sleepMs: pause.sleepTime.toMs() * jitter(this.random) };
  }

  toString(): string {
    const pairs = this.pauses.map(({ sleepTime, count }) => `${count}x${sleepTime}`);
    return `MultipleLinearRandomRetry[${pairs.join(', ')}]`;
  }
}
