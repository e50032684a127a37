import type { Timer, Timers } from '../../common/runtime.js';
import { StatusCode } from '../transport.js';
import { local, type MemoryStream } from './stream.js';

/** The open streams of a channel or server, and how they end when it closes. */
export class StreamSet {
  readonly #timers: Timers;
  readonly #streams = new Set<MemoryStream>();
  #onEmpty: (() => void) | undefined;
  #timer: Timer | undefined;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  add(stream: MemoryStream): void {
    this.#streams.add(stream);
    stream.whenOver(() => {
      this.#streams.delete(stream);
      this.#reportEmpty();
    });
  }

  /**
   * Lets streams finish for `graceMs`, then cuts them; `done` is called in a fresh turn when none
   * is left.
   */
  close(graceMs: number, reason: string, done: () => void): void {
    this.#onEmpty = done;
    this.#timer?.cancel();
    this.#timer = this.#timers.schedule(Math.max(0, graceMs), () => {
      const status = local(StatusCode.UNAVAILABLE, reason);
      for (const stream of [...this.#streams]) stream.cut(status, status);
    });
    this.#reportEmpty();
  }

  #reportEmpty(): void {
    const onEmpty = this.#onEmpty;
    if (onEmpty === undefined || this.#streams.size > 0) return;
    this.#onEmpty = undefined;
    this.#timer?.cancel();
    this.#timers.enqueue(onEmpty);
  }
}
