import type { Random } from '../../common/runtime.js';

/** Kinds of requests that a policy may tell apart (spec: client 7). */
export type RetryRequestKind =
  | 'WRITE'
  | 'READ'
  | 'STALE_READ'
  | 'WATCH'
  | 'MESSAGE_STREAM'
  | 'DATA_STREAM'
  | 'FORWARD';

/** A failed attempt, for which a policy decides. */
export interface RetryEvent {
  /** Attempts made so far, at least 1. */
  readonly attemptCount: number;
  /** Failures of this request with exactly the class of `cause`; 0 without a cause. */
  readonly causeCount: number;
  readonly cause: Error | undefined;
  readonly requestKind: RetryRequestKind | undefined;
  /** Time since the request was made. */
  readonly elapsedMs: number;
}

export interface RetryAction {
  readonly shouldRetry: boolean;
  /** How long to wait before the next attempt; 0 when there is none. */
  readonly sleepMs: number;
}

/** Decides after a failed attempt whether and when there is another one (spec: client 7). */
export interface RetryPolicy {
  handle(event: RetryEvent): RetryAction;
  /** The form in which logs show the policy. */
  toString(): string;
}

export const NO_RETRY_ACTION: RetryAction = Object.freeze({ shouldRetry: false, sleepMs: 0 });
export const RETRY_NOW_ACTION: RetryAction = Object.freeze({ shouldRetry: true, sleepMs: 0 });

/** A factor that is uniform in [0.5, 1.5) (spec: client 7). */
export function jitter(random: Random): number {
  return 0.5 + random.nextUint32() / 0x1_0000_0000;
}
