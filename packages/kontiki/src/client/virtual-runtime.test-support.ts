import type { Runtime, Timer } from '../common/runtime.js';

interface Scheduled {
  readonly dueMs: number;
  readonly callback: () => void;
}

/** A runtime whose clock stands still until it is advanced. Turns and microtasks are Node's own. */
export class VirtualRuntime implements Runtime {
  #nowMs = 0;
  #scheduled: Scheduled[] = [];
  #seed = 1;

  readonly clock = { nowMs: () => this.#nowMs, wallTimeMs: () => this.#nowMs };
  readonly timers = {
    schedule: (delayMs: number, callback: () => void): Timer => {
      const entry = { dueMs: this.#nowMs + delayMs, callback };
      this.#scheduled.push(entry);
      return {
        cancel: () => {
          this.#scheduled = this.#scheduled.filter((other) => other !== entry);
        },
      };
    },
    defer: (callback: () => void) => void setImmediate(callback),
    enqueue: (callback: () => void) => queueMicrotask(callback),
  };
  readonly random = {
    nextUint32: () => {
      this.#seed = (Math.imul(this.#seed, 1664525) + 1013904223) >>> 0;
      return this.#seed;
    },
    bytes: (count: number) => Uint8Array.from({ length: count }, () => this.random.nextUint32()),
  };

  /** Timers that are set. */
  get timerCount(): number {
    return this.#scheduled.length;
  }

  /** Lets everything happen that needs no time to pass. */
  async settle(): Promise<void> {
    for (let turn = 0; turn < 12; turn++) await new Promise((resolve) => setImmediate(resolve));
  }

  /** Moves the clock until `promise` is settled. Fails after a minute of virtual time. */
  async until<T>(promise: Promise<T>): Promise<T> {
    let settled = false;
    const done = () => {
      settled = true;
    };
    promise.then(done, done);
    await this.settle();
    for (let stepMs = 0; !settled && stepMs < 60_000; stepMs += 10) await this.advance(10);
    if (!settled) throw new Error('still not settled after a minute');
    return promise;
  }

  /** Moves the clock, timer by timer, and settles after each. */
  async advance(byMs: number): Promise<void> {
    const endMs = this.#nowMs + byMs;
    await this.settle();
    for (;;) {
      const next = this.#scheduled
        .filter((entry) => entry.dueMs <= endMs)
        .sort((a, b) => a.dueMs - b.dueMs)[0];
      if (next === undefined) break;
      this.#nowMs = Math.max(this.#nowMs, next.dueMs);
      this.#scheduled = this.#scheduled.filter((entry) => entry !== next);
      next.callback();
      await this.settle();
    }
    this.#nowMs = endMs;
    await this.settle();
  }
}
