import { InvalidArgumentError } from '../../common/errors.js';
import type { TimeDuration } from '../../config/time-duration.js';
import {
  NO_RETRY_ACTION,
  RETRY_NOW_ACTION,
  type RetryAction,
  type RetryEvent,
  type RetryPolicy,
} from './policy.js';

/** Retries at once, for ever. */
export const RETRY_FOREVER_NO_SLEEP: RetryPolicy = {
  handle: () => RETRY_NOW_ACTION,
  toString: () => 'RetryForeverNoSleep',
};

/** Never retries. */
export const NO_RETRY: RetryPolicy = {
  handle: () => NO_RETRY_ACTION,
  toString: () => 'NoRetry',
};

function checkSleep(sleepTime: TimeDuration): void {
  if (sleepTime.isNegative()) {
    throw new InvalidArgumentError(`sleepTime = ${sleepTime} is negative.`);
  }
}

/** A limit of attempts, checked. */
export function checkMaxAttempts(maxAttempts: number): void {
  if (Number.isInteger(maxAttempts) && maxAttempts >= 0) return;
  throw new InvalidArgumentError(`maxAttempts = ${maxAttempts} is negative or no whole number.`);
}

/** Retries for ever, after the same pause each time. */
export class RetryForeverWithSleep implements RetryPolicy {
  readonly sleepTime: TimeDuration;
  private readonly action: RetryAction;

  /** Throws InvalidArgumentError on a negative time. */
  constructor(sleepTime: TimeDuration) {
    checkSleep(sleepTime);
    this.sleepTime = sleepTime;
    this.action = { shouldRetry: true, sleepMs: sleepTime.toMs() };
  }

  handle(): RetryAction {
    return this.action;
  }

  toString(): string {
    return `RetryForeverWithSleep(sleepTime = ${this.sleepTime})`;
  }
}

/** Makes at most `maxAttempts` attempts, with the same pause between them. */
export class RetryLimited implements RetryPolicy {
  readonly maxAttempts: number;
  readonly sleepTime: TimeDuration;
  private readonly action: RetryAction;

  /** Throws InvalidArgumentError on a negative count or time. */
  constructor(maxAttempts: number, sleepTime: TimeDuration) {
    checkMaxAttempts(maxAttempts);
    checkSleep(sleepTime);
    this.maxAttempts = maxAttempts;
    this.sleepTime = sleepTime;
    this.action = { shouldRetry: true, sleepMs: sleepTime.toMs() };
  }

  handle(event: Pick<RetryEvent, 'attemptCount'>): RetryAction {
    return event.attemptCount < this.maxAttempts ? this.action : NO_RETRY_ACTION;
  }

  toString(): string {
    return `RetryLimited(maxAttempts=${this.maxAttempts}, sleepTime=${this.sleepTime})`;
  }
}
