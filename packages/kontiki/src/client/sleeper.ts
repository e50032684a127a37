import type { Runtime } from '../common/runtime.js';
import { LazyTimer } from '../rpc/ratis/client/lazy-timer.js';

interface Sleeping {
  readonly dueMs: number;
  readonly wake: () => void;
}

/** Pauses between attempts, all of them on one timer. */
export class Sleeper {
  readonly #runtime: Runtime;
  readonly #timer: LazyTimer;
  /** By due time. */
  #sleeping: Sleeping[] = [];
  #closed = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
    this.#timer = new LazyTimer(runtime, (nowMs) => this.#wake(nowMs));
  }

  /** Calls `wake` once, `delayMs` from now; never before this returns. */
  sleep(delayMs: number, wake: () => void): void {
    if (delayMs <= 0) {
      this.#runtime.timers.defer(() => {
        if (!this.#closed) wake();
      });
      return;
    }
    const dueMs = this.#runtime.clock.nowMs() + delayMs;
    let position = this.#sleeping.length;
    while (position > 0 && (this.#sleeping[position - 1]?.dueMs ?? 0) > dueMs) position--;
    this.#sleeping.splice(position, 0, { dueMs, wake });
    this.#timer.arm(dueMs);
  }

  /** Nobody is woken any more. */
  close(): void {
    this.#closed = true;
    this.#sleeping = [];
    this.#timer.cancel();
  }

  #wake(nowMs: number): number | undefined {
    let due = 0;
    while ((this.#sleeping[due]?.dueMs ?? Number.POSITIVE_INFINITY) <= nowMs) due++;
    for (const { wake } of this.#sleeping.splice(0, due)) wake();
    return this.#sleeping[0]?.dueMs;
  }
}
