import { InvalidArgumentError } from '../common/errors.js';
import { AlreadyClosedException } from '../protocol/exceptions.js';
import type { RaftClientReply } from '../protocol/requests.js';
import type { ClientCore } from './client-core.js';
import type { OrderedAsync } from './ordered-async.js';
import { type CallOptions, type MessageInput, messageBytes } from './request-types.js';

/**
 * One message that is sent in parts; the leader joins them and writes the sum as one (spec: client
 * 11).
 */
export class MessageOutputStream {
  readonly #ordered: OrderedAsync;
  readonly #streamId: number;
  #nextMessageId = 0;
  #closed = false;

  constructor(ordered: OrderedAsync, streamId: number) {
    this.#ordered = ordered;
    this.#streamId = streamId;
  }

  /**
   * Sends the next part. With `endOfRequest` it is the last one, and its reply that of the write.
   */
  sendAsync(
    message: MessageInput,
    options?: CallOptions & { readonly endOfRequest?: boolean },
  ): Promise<RaftClientReply> {
    return this.#send(messageBytes(message), options?.endOfRequest ?? false, options?.signal);
  }

  /** Ends the message; resolves to the reply of the write. */
  closeAsync(options?: CallOptions): Promise<RaftClientReply> {
    return this.#send(undefined, true, options?.signal);
  }

  #send(
    content: Uint8Array | undefined,
    endOfRequest: boolean,
    signal: AbortSignal | undefined,
  ): Promise<RaftClientReply> {
    if (this.#closed) {
      const text = `message stream ${this.#streamId} was closed`;
      return Promise.reject(new AlreadyClosedException(text));
    }
    this.#closed = endOfRequest;
    const type = {
      kind: 'messageStream',
      streamId: this.#streamId,
      messageId: this.#nextMessageId++,
      endOfRequest,
    } as const;
    return this.#ordered.send(type, content, undefined, signal);
  }
}

/**
 * Large messages in parts (spec: client 11). A part that fails makes the whole message fail; what
 * was sent vanishes with the leader.
 */
export class MessageStreamApi {
  readonly #core: ClientCore;
  readonly #ordered: OrderedAsync;
  #nextStreamId = 1;

  constructor(core: ClientCore, ordered: OrderedAsync) {
    this.#core = core;
    this.#ordered = ordered;
  }

  stream(): MessageOutputStream {
    return new MessageOutputStream(this.#ordered, this.#nextStreamId++);
  }

  /**
   * Sends `message` in parts of `submessageBytes` (default
   * `raft.client.message-stream.submessage-size`). Rejects with the first failure of a part, or
   * with that of the write.
   */
  async streamAsync(
    message: MessageInput,
    options?: CallOptions & { readonly submessageBytes?: number },
  ): Promise<RaftClientReply> {
    const size = options?.submessageBytes ?? this.#core.settings.submessageBytes;
    if (!Number.isInteger(size) || size <= 0) {
      throw new InvalidArgumentError(`submessage size ${size} is not a positive whole number`);
    }
    const bytes = messageBytes(message);
    const stream = this.stream();
    const parts: Promise<RaftClientReply>[] = [];
    for (let offset = 0; offset < bytes.length; offset += size) {
      parts.push(stream.sendAsync(bytes.subarray(offset, offset + size), options));
    }
    parts.push(stream.closeAsync(options));
    const replies = await Promise.all(parts);
    return replies[replies.length - 1] as RaftClientReply;
  }
}
