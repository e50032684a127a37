import type { Writable } from 'node:stream';
import type { Timers } from '../../common/runtime.js';
import type { OutgoingMessage } from '../transport.js';
import { encodeFrames, encodeHead, FRAME_HEAD_BYTES, messageBytes } from './frame-encoder.js';

/**
 * Messages are joined into one write up to this size; a larger message goes alone, and is not
 * copied.
 */
const JOINED_WRITE_BYTES = 64 * 1_024;

/** Writes handed to Node at a time: the second one is ready when the first is done. */
const WRITES_IN_FLIGHT = 2;

export interface FrameWriterOptions {
  readonly timers: Timers;
  /** Mark above which `send` returns false, bytes. */
  readonly sendBufferBytes: number;
  /** Called when the buffer fell below the mark after `send` returned false. */
  readonly onDrain: () => void;
}

/**
 * The sending half of a stream: holds messages until there is a sink, and joins what is sent in one
 * turn, or while an earlier write is under way, into one write. HTTP/2 flow control of the peer
 * delays the writes, and so fills the buffer.
 */
export class FrameWriter {
  readonly #options: FrameWriterOptions;
  #queue: OutgoingMessage[] = [];
  #head = 0;
  #bufferedBytes = 0;
  #writes = 0;
  #sink: Writable | undefined;
  #beforeWrite: (() => void) | undefined;
  #finish: ((sink: Writable, last: Uint8Array | undefined) => void) | undefined;
  #flushing = false;
  #full = false;
  #stopped = false;

  constructor(options: FrameWriterOptions) {
    this.#options = options;
  }

  /** Bytes taken and not yet handed to the operating system, frame heads included. */
  get bufferedBytes(): number {
    return this.#bufferedBytes;
  }

  /** Starts to write to `sink`. `beforeWrite` is called once, before the first message goes out. */
  attach(sink: Writable, beforeWrite?: () => void): void {
    this.#sink = sink;
    this.#beforeWrite = beforeWrite;
    this.#flush();
  }

  /** Takes one message; false when the buffer is above its mark. */
  send(message: OutgoingMessage): boolean {
    if (this.#stopped || this.#finish !== undefined) return true;
    this.#queue.push(message);
    this.#bufferedBytes += messageBytes(message) + FRAME_HEAD_BYTES;
    this.#scheduleFlush();
    if (this.#bufferedBytes <= this.#options.sendBufferBytes) return true;
    this.#full = true;
    return false;
  }

  /**
   * After the queued messages, calls `finish` with the last bytes that were not written yet.
   * Nothing can be sent afterwards.
   */
  end(finish: (sink: Writable, last: Uint8Array | undefined) => void): void {
    if (this.#stopped || this.#finish !== undefined) return;
    this.#finish = finish;
    this.#scheduleFlush();
  }

  /** Drops everything. */
  stop(): void {
    this.#stopped = true;
    this.#queue = [];
    this.#head = 0;
    this.#bufferedBytes = 0;
    this.#sink = undefined;
  }

  #scheduleFlush(): void {
    if (this.#flushing || this.#sink === undefined) return;
    this.#flushing = true;
    this.#options.timers.enqueue(() => {
      this.#flushing = false;
      this.#flush();
    });
  }

  #flush(): void {
    const sink = this.#sink;
    if (sink === undefined || this.#flushing) return;
    while (this.#head < this.#queue.length && this.#writes < WRITES_IN_FLIGHT) {
      this.#announceWrite();
      if (this.#writeLarge(sink)) continue;
      const bytes = this.#takeBatch();
      if (this.#finish !== undefined && this.#head === this.#queue.length) {
        this.#complete(sink, bytes);
        return;
      }
      this.#writes++;
      sink.write(bytes, () => this.#onWritten(bytes.length));
    }
    if (this.#finish !== undefined && this.#head === this.#queue.length) {
      this.#complete(sink, undefined);
    }
  }

  #announceWrite(): void {
    const beforeWrite = this.#beforeWrite;
    this.#beforeWrite = undefined;
    beforeWrite?.();
  }

  #complete(sink: Writable, last: Uint8Array | undefined): void {
    const finish = this.#finish;
    this.#queue = [];
    this.#head = 0;
    this.#sink = undefined;
    finish?.(sink, last);
  }

  /**
   * Writes the next message from where it lies, if it is large: its bytes must not change any more.
   * One system call, since the parts are corked.
   */
  #writeLarge(sink: Writable): boolean {
    const message = this.#queue[this.#head] ?? [];
    const size = messageBytes(message);
    if (size + FRAME_HEAD_BYTES <= JOINED_WRITE_BYTES) return false;
    this.#head++;
    this.#releaseTaken();
    this.#writes++;
    const parts = message instanceof Uint8Array ? [message] : message;
    const last = parts.length - 1;
    sink.cork();
    sink.write(encodeHead(size));
    parts.forEach((part, i) => {
      if (i < last) sink.write(part);
      else sink.write(part, () => this.#onWritten(size + FRAME_HEAD_BYTES));
    });
    sink.uncork();
    return true;
  }

  #takeBatch(): Buffer {
    const queue = this.#queue;
    const start = this.#head;
    let total = 0;
    while (this.#head < queue.length) {
      const size = messageBytes(queue[this.#head] ?? []) + FRAME_HEAD_BYTES;
      if (this.#head > start && total + size > JOINED_WRITE_BYTES) break;
      total += size;
      this.#head++;
    }
    const whole = start === 0 && this.#head === queue.length;
    const bytes = encodeFrames(whole ? queue : queue.slice(start, this.#head), total);
    this.#releaseTaken();
    return bytes;
  }

  /** Keeps the queue from pinning messages that were written. */
  #releaseTaken(): void {
    const { length } = this.#queue;
    if (this.#head < 64 && this.#head * 2 < length) return;
    this.#queue = this.#head === length ? [] : this.#queue.slice(this.#head);
    this.#head = 0;
  }

  #onWritten(count: number): void {
    if (this.#stopped) return;
    this.#writes--;
    this.#bufferedBytes -= count;
    this.#flush();
    if (this.#full && this.#bufferedBytes <= this.#options.sendBufferBytes) {
      this.#full = false;
      if (this.#finish === undefined) this.#options.onDrain();
    }
  }
}
