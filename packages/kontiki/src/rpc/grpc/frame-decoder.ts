import { type RpcStatus, StatusCode } from '../transport.js';
import { FRAME_HEAD_BYTES } from './frame-encoder.js';
import { localStatus } from './status.js';

/**
 * Messages up to this size share a small slab, so that keeping one never pins a whole receive
 * chunk.
 */
const SLAB_MESSAGE_BYTES = 1_024;
const SLAB_BYTES = 8_192;

/**
 * Takes the bytes of one stream in chunks and gives whole messages. Each byte is copied once, out
 * of the receive chunk into a buffer of the announced length. A length above the limit is refused
 * before anything is allocated for it.
 */
export class FrameDecoder {
  readonly #maxMessageBytes: number;
  readonly #head = new Uint8Array(FRAME_HEAD_BYTES);
  #headBytes = 0;
  #chunks: Uint8Array[] = [];
  #offset = 0;
  #body: Uint8Array | undefined;
  #bodyBytes = 0;
  #failure: RpcStatus | undefined;

  constructor(maxMessageBytes: number) {
    this.#maxMessageBytes = maxMessageBytes;
  }

  /** Set after `next` found bytes that are no valid frame; nothing more comes out then. */
  get failure(): RpcStatus | undefined {
    return this.#failure;
  }

  /** True when the bytes so far end inside a message. */
  get isPartial(): boolean {
    return this.#headBytes > 0 || this.#chunks.length > 0;
  }

  push(chunk: Uint8Array): void {
    if (chunk.length > 0 && this.#failure === undefined) this.#chunks.push(chunk);
  }

  /** The next whole message, or undefined when more bytes are needed (or on failure). */
  next(): Uint8Array | undefined {
    while (this.#failure === undefined) {
      const chunk = this.#chunks[0];
      if (this.#body === undefined) {
        if (chunk === undefined || !this.#readHead(chunk)) {
          if (chunk === undefined) return undefined;
          continue;
        }
      }
      const message = this.#readBody();
      if (message !== undefined) return message;
      if (this.#chunks.length === 0) return undefined;
    }
    return undefined;
  }

  #readHead(chunk: Uint8Array): boolean {
    const head = this.#head;
    while (this.#headBytes < FRAME_HEAD_BYTES && this.#offset < chunk.length) {
      head[this.#headBytes++] = chunk[this.#offset++] ?? 0;
    }
    this.#dropReadChunk(chunk);
    if (this.#headBytes < FRAME_HEAD_BYTES) return false;
    const length = new DataView(head.buffer).getUint32(1);
    this.#failure = this.#check(head[0] ?? 0, length);
    if (this.#failure !== undefined) {
      this.#chunks = [];
      return false;
    }
    this.#body = allocate(length);
    this.#bodyBytes = 0;
    return true;
  }

  #check(flag: number, length: number): RpcStatus | undefined {
    if (flag === 1) {
      return localStatus(
        StatusCode.UNIMPLEMENTED,
        'compressed message: only identity is supported',
      );
    }
    if (flag !== 0) {
      return localStatus(StatusCode.INTERNAL, `malformed frame: compressed flag is ${flag}`);
    }
    if (length > this.#maxMessageBytes) {
      const limit = this.#maxMessageBytes;
      const text = `message of ${length} bytes is larger than the limit of ${limit}`;
      return localStatus(StatusCode.RESOURCE_EXHAUSTED, text);
    }
    return undefined;
  }

  #readBody(): Uint8Array | undefined {
    const body = this.#body;
    if (body === undefined) return undefined;
    while (this.#bodyBytes < body.length) {
      const chunk = this.#chunks[0];
      if (chunk === undefined) return undefined;
      const count = Math.min(body.length - this.#bodyBytes, chunk.length - this.#offset);
      const whole = this.#offset === 0 && count === chunk.length;
      body.set(whole ? chunk : chunk.subarray(this.#offset, this.#offset + count), this.#bodyBytes);
      this.#bodyBytes += count;
      this.#offset += count;
      this.#dropReadChunk(chunk);
    }
    this.#body = undefined;
    this.#headBytes = 0;
    return body;
  }

  #dropReadChunk(chunk: Uint8Array): void {
    if (this.#offset < chunk.length) return;
    this.#chunks.shift();
    this.#offset = 0;
  }
}

/**
 * One slab for all streams of the thread: a unary call has one small message, and must not cost a
 * slab.
 */
let slab = new Uint8Array(0);
let slabBytes = 0;

function allocate(length: number): Uint8Array {
  if (length > SLAB_MESSAGE_BYTES) return new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
  if (slabBytes + length > slab.length) {
    slab = new Uint8Array(Buffer.allocUnsafeSlow(SLAB_BYTES).buffer);
    slabBytes = 0;
  }
  const start = slabBytes;
  slabBytes += length;
  return slab.subarray(start, start + length);
}
