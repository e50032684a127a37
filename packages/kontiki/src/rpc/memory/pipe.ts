import type { Timers } from '../../common/runtime.js';
import type { RpcStatus } from '../transport.js';

/** What goes through one direction of a stream. */
export type PipeItem =
  | { readonly kind: 'message'; readonly bytes: Uint8Array }
  | { readonly kind: 'halfClose' }
  | { readonly kind: 'end'; readonly status: RpcStatus };

export interface PipeOptions {
  readonly timers: Timers;
  /** Mark above which `push` returns false, bytes. */
  readonly markBytes: number;
  readonly onItem: (item: PipeItem) => void;
  /** The buffer fell to the mark after `push` returned false. */
  readonly onDrain: () => void;
}

/**
 * One direction of a stream: hands out in order, in a fresh turn, while its reader is not paused.
 * Starts closed.
 */
export class Pipe {
  readonly #options: PipeOptions;
  #queue: PipeItem[] = [];
  #bufferedBytes = 0;
  #open = false;
  #paused = false;
  #stopped = false;
  #scheduled = false;
  #full = false;

  constructor(options: PipeOptions) {
    this.#options = options;
  }

  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  push(item: PipeItem): boolean {
    if (this.#stopped) return true;
    this.#queue.push(item);
    if (item.kind === 'message') this.#bufferedBytes += item.bytes.length;
    this.#schedule();
    if (this.#bufferedBytes <= this.#options.markBytes) return true;
    this.#full = true;
    return false;
  }

  /** The reader is there. */
  open(): void {
    this.#open = true;
    this.#schedule();
  }

  pause(): void {
    this.#paused = true;
  }

  resume(): void {
    this.#paused = false;
    this.#schedule();
  }

  /** Drops what is queued. */
  stop(): void {
    this.#stopped = true;
    this.#queue = [];
    this.#bufferedBytes = 0;
  }

  #schedule(): void {
    if (this.#scheduled || !this.#open || this.#paused || this.#queue.length === 0) return;
    this.#scheduled = true;
    this.#options.timers.defer(() => {
      this.#scheduled = false;
      this.#deliver();
    });
  }

  /**
   * Hands out what is there now; what is pushed meanwhile waits for the next turn, so that two ends
   * cannot starve the rest.
   */
  #deliver(): void {
    const batch = this.#queue;
    this.#queue = [];
    let next = 0;
    while (next < batch.length && !this.#paused && !this.#stopped) {
      const item = batch[next++];
      if (item === undefined) break;
      if (item.kind === 'message') this.#bufferedBytes -= item.bytes.length;
      this.#options.onItem(item);
    }
    if (this.#stopped) return;
    if (next < batch.length) this.#queue = [...batch.slice(next), ...this.#queue];
    if (this.#full && this.#bufferedBytes <= this.#options.markBytes) {
      this.#full = false;
      this.#options.onDrain();
    }
    this.#schedule();
  }
}
