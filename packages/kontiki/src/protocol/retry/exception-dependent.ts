import { InvalidArgumentError } from '../../common/errors.js';
import { NO_RETRY_ACTION, type RetryAction, type RetryEvent, type RetryPolicy } from './policy.js';
import { checkMaxAttempts } from './simple-policies.js';

/** A class of errors, as `new` makes it. */
export type ErrorClass = abstract new (...args: never[]) => Error;

/** Parameters of ExceptionDependentRetry. */
export interface ExceptionDependent {
  readonly defaultPolicy: RetryPolicy;
  readonly policies: readonly (readonly [ErrorClass, RetryPolicy])[];
  /** Unlimited when absent. */
  readonly maxAttempts?: number;
}

/**
 * Chooses a policy by the exact class of the failure and asks it with that class's own count of
 * failures; subclasses do not match (spec: client 7).
 */
export class ExceptionDependentRetry implements RetryPolicy {
  private readonly defaultPolicy: RetryPolicy;
  private readonly policies = new Map<unknown, readonly [ErrorClass, RetryPolicy]>();
  private readonly maxAttempts: number;

  /** Throws InvalidArgumentError when a class occurs twice or maxAttempts is negative. */
  constructor(parameters: ExceptionDependent) {
    this.defaultPolicy = parameters.defaultPolicy;
    for (const entry of parameters.policies) {
      const [errorClass] = entry;
      if (this.policies.has(errorClass)) {
        throw new InvalidArgumentError(`${errorClass.name} has two retry policies`);
      }
      this.policies.set(errorClass, entry);
    }
    if (parameters.maxAttempts !== undefined) checkMaxAttempts(parameters.maxAttempts);
    this.maxAttempts = parameters.maxAttempts ?? Number.MAX_SAFE_INTEGER;
  }

  handle(event: RetryEvent): RetryAction {
    if (event.attemptCount >= this.maxAttempts) return NO_RETRY_ACTION;
    const [, policy] = this.policies.get(event.cause?.constructor) ?? [];
    return (policy ?? this.defaultPolicy).handle({ ...event, attemptCount: event.causeCount });
  }

  toString(): string {
    const map = [...this.policies.values()].map(([{ name }, policy]) => `${name}->${policy}`);
    const limit = this.maxAttempts === Number.MAX_SAFE_INTEGER ? 0x7fff_ffff : this.maxAttempts;
    const inner = `maxAttempts=${limit}; defaultPolicy=${this.defaultPolicy}`;
    return `ExceptionDependentRetry(${inner}; map={${map.join(', ')}})`;
  }
}
