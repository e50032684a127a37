import type { Runtime, Timer } from '../../../common/runtime.js';

/**
 * One timer for many deadlines. It is set for the earliest one known and not touched when requests
 * are answered; when it fires, `check` handles what has expired and says when to look again.
 */
export class LazyTimer {
  readonly #runtime: Runtime;
  readonly #check: (nowMs: number) => number | undefined;
  #timer: Timer | undefined;
  #dueMs = Number.POSITIVE_INFINITY;

  /** `check` returns the earliest deadline that is left, or undefined. */
  constructor(runtime: Runtime, check: (nowMs: number) => number | undefined) {
    this.#runtime = runtime;
    this.#check = check;
  }

  /** Makes sure that `check` runs at `deadlineMs` (monotonic) or soon after. */
  arm(deadlineMs: number): void {
    if (deadlineMs >= this.#dueMs) return;
    this.#timer?.cancel();
    this.#dueMs = deadlineMs;
    const delayMs = Math.max(0, deadlineMs - this.#runtime.clock.nowMs());
    this.#timer = this.#runtime.timers.schedule(delayMs, () => this.#fire());
  }

  cancel(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#dueMs = Number.POSITIVE_INFINITY;
  }

  #fire(): void {
    this.#timer = undefined;
    this.#dueMs = Number.POSITIVE_INFINITY;
    const next = this.#check(this.#runtime.clock.nowMs());
    if (next !== undefined) this.arm(next);
  }
}
