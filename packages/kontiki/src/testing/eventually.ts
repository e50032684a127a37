import { setTimeout as sleep } from 'node:timers/promises';
import { KontikiError } from '../common/errors.js';

/** A condition of a test did not come true in time. */
export class ConditionTimeoutError extends KontikiError {
  readonly code = 'KONTIKI_CONDITION_TIMEOUT';
}

const POLL_MS = 5;

/**
 * Waits until `condition` gives something other than undefined or false, and gives that. Rejects
 * with ConditionTimeoutError.
 */
export async function eventually<T>(
  what: string,
  condition: () => T | undefined | false,
  timeoutMs = 10_000,
): Promise<T> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const value = condition();
    if (value !== undefined && value !== false) return value;
    if (performance.now() >= untilMs) {
      throw new ConditionTimeoutError(`not so after ${timeoutMs} ms: ${what}`);
    }
    await sleep(POLL_MS);
  }
}
