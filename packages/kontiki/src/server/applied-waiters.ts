/** Someone who waits until an index is applied. */
export interface AppliedWaiter {
  readonly index: number;
  readonly deadlineMs: number;
  onApplied(): void;
  onTimeout(): void;
}

/**
 * Reads that wait until the state machine has applied their read index (spec: consensus 7.4), by
 * ascending index.
 */
export class AppliedWaiters {
  readonly #waiters: AppliedWaiter[] = [];
  #deadlineMs = Number.POSITIVE_INFINITY;

  get size(): number {
    return this.#waiters.length;
  }

  /** When `update` must be called at the latest. */
  get deadlineMs(): number {
    return this.#deadlineMs;
  }

  add(waiter: AppliedWaiter): void {
    let at = this.#waiters.length;
    while (at > 0 && (this.#waiters[at - 1]?.index ?? 0) > waiter.index) at--;
    this.#waiters.splice(at, 0, waiter);
    this.#deadlineMs = Math.min(this.#deadlineMs, waiter.deadlineMs);
  }

  update(appliedIndex: number, nowMs: number): void {
    let reached = 0;
    while ((this.#waiters[reached]?.index ?? Number.POSITIVE_INFINITY) <= appliedIndex) reached++;
    const ready = reached === 0 ? [] : this.#waiters.splice(0, reached);
    if (this.#waiters.length === 0) this.#deadlineMs = Number.POSITIVE_INFINITY;
    for (const waiter of ready) waiter.onApplied();
    if (nowMs >= this.#deadlineMs) this.#expire(nowMs);
  }

  /** Takes all of them out. */
  takeAll(): AppliedWaiter[] {
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    return this.#waiters.splice(0);
  }

  #expire(nowMs: number): void {
    const all = this.#waiters.splice(0);
    this.#deadlineMs = Number.POSITIVE_INFINITY;
    for (const waiter of all) {
      if (waiter.deadlineMs <= nowMs) waiter.onTimeout();
      else this.add(waiter);
    }
  }
}
