import { InvalidArgumentError } from '../common/errors.js';
import { AlreadyClosedException, RaftIOException } from '../protocol/exceptions.js';
import type { RaftClientReply } from '../protocol/requests.js';

/** What an output stream needs of a client. */
export interface OutputStreamClient {
  async(): { send(message: Uint8Array): Promise<RaftClientReply> };
  close(): Promise<void>;
}

/**
 * Bytes that go to the state machine in messages of at most one buffer each, in order (spec: client
 * 10). Owns its client.
 */
export class RaftOutputStream {
  readonly #client: OutputStreamClient;
  readonly #bufferBytes: number;
  #buffer: Uint8Array;
  #filled = 0;
  #positionBytes = 0;
  #pending: Promise<RaftClientReply>[] = [];
  #closing: Promise<void> | undefined;

  /** Throws InvalidArgumentError unless `bufferBytes` is a positive whole number. */
  constructor(client: OutputStreamClient, bufferBytes: number) {
    if (!Number.isInteger(bufferBytes) || bufferBytes <= 0) {
      throw new InvalidArgumentError(`buffer size ${bufferBytes} is not a positive whole number`);
    }
    this.#client = client;
    this.#bufferBytes = bufferBytes;
    this.#buffer = new Uint8Array(bufferBytes);
  }

  /**
   * Takes bytes; full buffers are sent without waiting for them. Throws AlreadyClosedException
   * after close.
   */
  write(bytes: Uint8Array): void {
    this.#requireOpen();
    let taken = 0;
    while (taken < bytes.length) {
      const part = bytes.subarray(taken, taken + this.#bufferBytes - this.#filled);
      this.#buffer.set(part, this.#filled);
      this.#filled += part.length;
      taken += part.length;
      if (this.#filled === this.#bufferBytes) this.#sendBuffer();
    }
  }

  /**
   * Sends the rest and waits for everything sent. Rejects with RaftIOException when a part failed.
   */
  async flush(): Promise<void> {
    this.#requireOpen();
    await this.#flush();
  }

  /** Flushes and closes the client; further calls return the same promise. */
  close(): Promise<void> {
    this.#closing ??= this.#flushAndClose();
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  async #flushAndClose(): Promise<void> {
    try {
      await this.#flush();
    } finally {
      await this.#client.close();
    }
  }

  #sendBuffer(): void {
    if (this.#filled === 0) return;
    const message = this.#buffer.subarray(0, this.#filled);
    this.#buffer = new Uint8Array(this.#bufferBytes);
    this.#positionBytes += this.#filled;
    this.#filled = 0;
    const reply = this.#client.async().send(message);
    reply.catch(() => undefined); // `flush` tells
    this.#pending.push(reply);
  }

  async #flush(): Promise<void> {
    this.#sendBuffer();
    const pending = this.#pending;
    this.#pending = [];
    const outcomes = await Promise.allSettled(pending);
    for (const outcome of outcomes) {
      if (outcome.status === 'fulfilled' && outcome.value.success) continue;
      const text = `Failed to flush at position ${this.#positionBytes}`;
      const cause: unknown = outcome.status === 'rejected' ? outcome.reason : undefined;
      throw new RaftIOException(text, cause === undefined ? undefined : { cause });
    }
  }

  #requireOpen(): void {
    if (this.#closing !== undefined) throw new AlreadyClosedException(`${this} was closed.`);
  }

  toString(): string {
    return `RaftOutputStream(${this.#bufferBytes} bytes)`;
  }
}
