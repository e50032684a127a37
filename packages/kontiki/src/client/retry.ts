import { NotLeaderException, RaftRetryFailureException } from '../protocol/exceptions.js';
import type { RequestType } from '../protocol/requests.js';
import type { RetryPolicy, RetryRequestKind } from '../protocol/retry/policy.js';

/**
 * Failures in a row that are answered without a pause, and the pauses after them: 1, 2, 4 ... 50
 * ms.
 */
const UNPACED_ATTEMPTS = 3;
const MAX_PACE_MS = 50;

const KINDS: Readonly<Record<RequestType['kind'], RetryRequestKind>> = {
  write: 'WRITE',
  read: 'READ',
  staleRead: 'STALE_READ',
  watch: 'WATCH',
  messageStream: 'MESSAGE_STREAM',
  dataStream: 'DATA_STREAM',
  forward: 'FORWARD',
};

/** What a failed attempt leads to. */
export type RetryDecision =
  | { readonly retry: true; readonly delayMs: number }
  | { readonly retry: false; readonly error: Error };

/**
 * The least pause before the attempt that follows `attemptCount` failed ones. Policies without
 * sleep (the default) would spin while no server is ready, for example during an election of a
 * group that lost its majority.
 */
export function paceMs(attemptCount: number): number {
  const beyond = attemptCount - UNPACED_ATTEMPTS;
  return beyond <= 0 ? 0 : Math.min(MAX_PACE_MS, 2 ** Math.min(beyond - 1, 16));
}

/** How often a request was tried and why it failed (spec: client 7). */
export class Attempts {
  readonly #createdMs: number;
  readonly #causes = new Map<unknown, number>();
  #count = 0;

  constructor(createdMs: number) {
    this.#createdMs = createdMs;
  }

  get count(): number {
    return this.#count;
  }

  /**
   * Counts a failed attempt and asks the policy. `cause` is undefined where the path hides it
   * (spec: client 5). `describe` prints the request for the error that ends it.
   */
  onFailure(
    policy: RetryPolicy,
    type: RequestType,
    cause: Error | undefined,
    nowMs: number,
    describe: () => string,
  ): RetryDecision {
    this.#count++;
    const action = policy.handle({
      attemptCount: this.#count,
      causeCount: this.#countCause(cause),
      cause,
      requestKind: KINDS[type.kind],
      elapsedMs: nowMs - this.#createdMs,
    });
    if (!action.shouldRetry)
      return { retry: false, error: this.#finalError(policy, cause, describe) };
    const hinted = cause instanceof NotLeaderException && cause.suggestedLeader !== undefined;
    return { retry: true, delayMs: Math.max(hinted ? 0 : action.sleepMs, paceMs(this.#count)) };
  }

  #countCause(cause: Error | undefined): number {
    if (cause === undefined) return 0;
    const count = (this.#causes.get(cause.constructor) ?? 0) + 1;
    this.#causes.set(cause.constructor, count);
    return count;
  }

  #finalError(policy: RetryPolicy, cause: Error | undefined, describe: () => string): Error {
    if (this.#count === 1 && cause !== undefined) return cause;
    return new RaftRetryFailureException(
      `Failed ${describe()} for ${this.#count} attempts with ${policy}`,
      cause === undefined ? undefined : { cause },
    );
  }
}
