import type { Readable } from 'node:stream';
import type { Timers } from '../../common/runtime.js';
import type { RpcStatus } from '../transport.js';
import { FrameDecoder } from './frame-decoder.js';

export interface FrameReaderHandler {
  onMessage(message: Uint8Array): void;
  /** The peer's bytes ended; `truncated` tells that they ended inside a message. */
  onReadEnd(truncated: boolean): void;
  /** The bytes are not acceptable; nothing more is read. */
  onReadFailure(status: RpcStatus): void;
}

/**
 * The receiving half of a stream. While it is paused nothing is taken from HTTP/2, so the peer's
 * window fills up and stops it; messages that are already here wait in the decoder.
 */
export class FrameReader {
  readonly #source: Readable;
  readonly #decoder: FrameDecoder;
  readonly #timers: Timers;
  readonly #handler: FrameReaderHandler;
  #paused: boolean;
  #ended = false;
  #stopped = false;
  #draining = false;

  constructor(
    source: Readable,
    maxMessageBytes: number,
    timers: Timers,
    handler: FrameReaderHandler,
    paused: boolean,
  ) {
    this.#source = source;
    this.#decoder = new FrameDecoder(maxMessageBytes);
    this.#timers = timers;
    this.#handler = handler;
    this.#paused = paused;
    source.on('data', (chunk: Uint8Array) => {
      this.#decoder.push(chunk);
      this.#drain();
    });
    source.on('end', () => {
      this.#ended = true;
      this.#drain();
    });
    if (paused) source.pause();
  }

  pause(): void {
    this.#paused = true;
    if (!this.#stopped) this.#source.pause();
  }

  /** Goes on from a fresh turn. */
  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#stopped) return;
    this.#timers.enqueue(() => {
      if (this.#paused || this.#stopped) return;
      this.#drain();
      if (!this.#paused && !this.#stopped) this.#source.resume();
    });
  }

  /** Hands out nothing more; what still arrives is thrown away, so that the stream can end. */
  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#source.removeAllListeners('data');
    this.#source.resume();
  }

  #drain(): void {
    if (this.#draining) return;
    this.#draining = true;
    try {
      this.#deliver();
    } finally {
      this.#draining = false;
    }
  }

  #deliver(): void {
    while (!this.#paused && !this.#stopped) {
      const message = this.#decoder.next();
      if (message !== undefined) {
        this.#handler.onMessage(message);
      } else if (this.#decoder.failure !== undefined) {
        this.stop();
        this.#handler.onReadFailure(this.#decoder.failure);
      } else {
        if (this.#ended) {
          this.#stopped = true;
          this.#handler.onReadEnd(this.#decoder.isPartial);
        }
        return;
      }
    }
  }
}
