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
import { checkMaxAttempts } from './simple-policies.js';

/** Parameters of ExponentialBackoffRetry. */
export interface ExponentialBackoff {
  readonly baseSleepTime: TimeDuration;
  /** Unlimited when absent. */
  readonly maxSleepTime?: TimeDuration;
  /** Unlimited when absent. */
  readonly maxAttempts?: number;
}

/** Throws InvalidArgumentError unless 0 < base <= max and maxAttempts >= 0. */
export function checkBackoff(parameters: ExponentialBackoff): void {
  const { baseSleepTime, maxSleepTime, maxAttempts } = parameters;
  if (baseSleepTime.count <= 0n) {
    throw new InvalidArgumentError(`baseSleepTime = ${baseSleepTime} is non-positive.`);
  }
  if (maxSleepTime !== undefined && maxSleepTime.compare(baseSleepTime) < 0) {
    throw new InvalidArgumentError(
      `maxSleepTime = ${maxSleepTime} < baseSleepTime = ${baseSleepTime}`,
    );
  }
  if (maxAttempts !== undefined) checkMaxAttempts(maxAttempts);
}

/** Pauses of base x 2^attemptCount, up to a longest one, times a random factor (spec: client 7). */
export class ExponentialBackoffRetry implements RetryPolicy {
  private readonly baseMs: number;
  private readonly maxMs: number;
  private readonly maxAttempts: number;
  private readonly random: Random;

  /** Throws InvalidArgumentError unless 0 < base <= max and maxAttempts >= 0. */
  constructor(parameters: ExponentialBackoff, random: Random) {
    checkBackoff(parameters);
    this.baseMs = parameters.baseSleepTime.toMs();
    this.maxMs = parameters.maxSleepTime?.toMs() ?? Number.MAX_SAFE_INTEGER;
    this.maxAttempts = parameters.maxAttempts ?? Number.MAX_SAFE_INTEGER;
    this.random = random;
  }

  handle(event: Pick<RetryEvent, 'attemptCount'>): RetryAction {
    if (event.attemptCount >= this.maxAttempts) return NO_RETRY_ACTION;
    const sleepMs = Math.min(this.baseMs * 2 ** event.attemptCount, this.maxMs);
    return { shouldRetry: true, sleepMs: sleepMs * jitter(this.random) };
  }

  toString(): string {
    return 'ExponentialBackoffRetry';
  }
}
