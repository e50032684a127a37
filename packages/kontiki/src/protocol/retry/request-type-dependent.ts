import { InvalidArgumentError } from '../../common/errors.js';
import {
  NO_RETRY_ACTION,
  type RetryAction,
  type RetryEvent,
  type RetryPolicy,
  type RetryRequestKind,
} from './policy.js';
import { RETRY_FOREVER_NO_SLEEP } from './simple-policies.js';

/** Parameters of RequestTypeDependentRetryPolicy. */
export interface RequestTypeDependent {
  readonly policies?: readonly (readonly [RetryRequestKind, RetryPolicy])[];
  /** Milliseconds since the request was made, after which there is no further attempt. */
  readonly timeouts?: readonly (readonly [RetryRequestKind, number])[];
}

function uniqueMap<V>(
  entries: readonly (readonly [RetryRequestKind, V])[] | undefined,
  what: string,
): Map<RetryRequestKind, V> {
  const map = new Map<RetryRequestKind, V>();
  for (const [kind, value] of entries ?? []) {
    if (map.has(kind)) throw new InvalidArgumentError(`${kind} has two ${what}`);
    map.set(kind, value);
  }
  return map;
}

/** Chooses a policy, and a time after which all ends, by the kind of request (spec: client 7). */
export class RequestTypeDependentRetryPolicy implements RetryPolicy {
  private readonly policies: ReadonlyMap<RetryRequestKind, RetryPolicy>;
  private readonly timeouts: ReadonlyMap<RetryRequestKind, number>;

  /** Throws InvalidArgumentError when a kind has two policies or two times. */
  constructor(parameters: RequestTypeDependent) {
    this.policies = uniqueMap(parameters.policies, 'retry policies');
    this.timeouts = uniqueMap(parameters.timeouts, 'timeouts');
  }

  handle(event: RetryEvent): RetryAction {
    const kind = event.requestKind;
    if (kind === undefined) return RETRY_FOREVER_NO_SLEEP.handle(event);
    const timeoutMs = this.timeouts.get(kind);
    if (timeoutMs !== undefined && event.elapsedMs >= timeoutMs) return NO_RETRY_ACTION;
    return (this.policies.get(kind) ?? RETRY_FOREVER_NO_SLEEP).handle(event);
  }

  toString(): string {
    const map = [...this.policies].map(([kind, policy]) => `${kind}->${policy}`);
    return `RequestTypeDependentRetryPolicy{${map.join(', ')}}`;
  }
}
