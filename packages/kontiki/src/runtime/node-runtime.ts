import { randomFillSync } from 'node:crypto';
import type { Clock, Random, Runtime, Timer, Timers } from '../common/runtime.js';

const NANOSECONDS_PER_MS = 1e6;
const RANDOM_POOL_WORDS = 256;

/**
 * Monotonic time is `process.hrtime`, not `performance.now`: a worker thread's `performance.now`
 * has another origin, and times cross threads (design: section 4).
 */
const nodeClock: Clock = {
  nowMs: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1000 + nanoseconds / NANOSECONDS_PER_MS;
  },
  wallTimeMs: () => Date.now(),
};

const nodeTimers: Timers = {
  schedule(delayMs: number, callback: () => void, background = false): Timer {
    const timeout = setTimeout(callback, Math.max(0, delayMs));
    if (background) timeout.unref();
    return { cancel: () => clearTimeout(timeout) };
  },
  defer: (callback) => {
    setImmediate(callback);
  },
  enqueue: (callback) => queueMicrotask(callback),
};

/** Cryptographic random numbers, drawn in blocks because one system call a number would be slow. */
class NodeRandom implements Random {
  readonly #pool = new Uint32Array(RANDOM_POOL_WORDS);
  #next = RANDOM_POOL_WORDS;

  nextUint32(): number {
    if (this.#next === RANDOM_POOL_WORDS) {
      randomFillSync(this.#pool);
      this.#next = 0;
    }
    const value = this.#pool[this.#next] ?? 0;
    this.#pool[this.#next++] = 0;
    return value;
  }

  bytes(count: number): Uint8Array {
    return randomFillSync(new Uint8Array(count));
  }
}

/** The world as Node gives it: system clock, timers of the event loop, cryptographic randomness. */
export function nodeRuntime(): Runtime {
  return { clock: nodeClock, timers: nodeTimers, random: new NodeRandom() };
}
