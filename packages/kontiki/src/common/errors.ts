/**
 * Base of every error that the library raises on purpose. `code` is stable across versions and
 * unique per class; programs test it (or `instanceof`), never the message.
 */
export abstract class KontikiError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/**
 * A broken invariant about our own acts: a programming error. Closes the division it happened in
 * (design: section 2).
 */
export class AssertionFailedError extends KontikiError {
  readonly code = 'KONTIKI_ASSERTION_FAILED';
}

/** A caller's argument is not acceptable. */
export class InvalidArgumentError extends KontikiError {
  readonly code = 'KONTIKI_INVALID_ARGUMENT';
}

/** Throws AssertionFailedError unless `condition` holds. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new AssertionFailedError(message);
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Anything thrown, as an Error. */
export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
