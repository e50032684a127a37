/**
 * The world as the library sees it. Everything that is not a pure function of its input comes in
 * through these interfaces, so that a simulator can replace them (design: section 5). Nothing in
 * the library may read a clock, set a timer or draw a random number in another way.
 */

/** A monotonic clock and the wall clock. */
export interface Clock {
  /** Monotonic time in milliseconds, with fractions; its origin is arbitrary. Never goes back. */
  nowMs(): number;
  /**
   * Wall clock, milliseconds since the epoch. For display and file comments only, never for
   * decisions.
   */
  wallTimeMs(): number;
}

/** A timer that was set. Cancelling twice, or after it fired, does nothing. */
export interface Timer {
  cancel(): void;
}

/** Timers and the order of turns. */
export interface Timers {
  /**
   * Calls `callback` once, at the earliest `delayMs` from now. Does not keep the process alive when
   * `background` is true.
   */
  schedule(delayMs: number, callback: () => void, background?: boolean): Timer;
  /**
   * Calls `callback` after the current turn's input was read, before the loop waits again
   * (`setImmediate` in Node).
   */
  defer(callback: () => void): void;
  /** Calls `callback` as soon as the current call stack is empty (`queueMicrotask` in Node). */
  enqueue(callback: () => void): void;
}

/** A source of random numbers: seeded in the simulator, cryptographic in production. */
export interface Random {
  /** Uniform integer in [0, 2^32). */
  nextUint32(): number;
  /** Fills and returns `count` random bytes. */
  bytes(count: number): Uint8Array;
}

export interface Runtime {
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: Random;
}

/** Uniform integer in [min, max], both inclusive (spec: E-1). */
export function randomInteger(random: Random, min: number, max: number): number {
  const span = Math.max(0, Math.floor(max) - Math.floor(min)) + 1;
  return Math.floor(min) + Math.floor((random.nextUint32() / 0x1_0000_0000) * span);
}
