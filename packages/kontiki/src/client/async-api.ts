import type { RaftPeerId } from '../protocol/ids.js';
import { type RaftClientReply, ReplicationLevel } from '../protocol/requests.js';
import type { OrderedAsync } from './ordered-async.js';
import {
  type CallOptions,
  FORWARD,
  type MessageInput,
  messageBytes,
  READ,
  READ_AFTER_WRITE,
  READ_NON_LINEARIZABLE,
  writeType,
} from './request-types.js';
import type { UnorderedAsync } from './unordered-async.js';

export interface WriteOptions extends CallOptions {
  /** When the write is answered; MAJORITY when absent. */
  readonly replication?: ReplicationLevel;
}

export interface ReadOptions extends CallOptions {
  /** Asks this server and no other. */
  readonly serverId?: RaftPeerId;
}

/**
 * Requests that share long-lived streams (spec: client 3). Those on the ordered path are carried
 * out in the order of the calls; at most `raft.client.async.outstanding-requests.max` are on their
 * way, the others wait in memory, so await some before you send more.
 *
 * Every call rejects with the exception of its reply, with what ended its attempts, or with
 * AlreadyClosedException when the client is closed.
 */
export class AsyncApi {
  readonly #ordered: OrderedAsync;
  readonly #unordered: UnorderedAsync;

  constructor(ordered: OrderedAsync, unordered: UnorderedAsync) {
    this.#ordered = ordered;
    this.#unordered = unordered;
  }

  /** An ordered write. */
  send(message: MessageInput, options?: WriteOptions): Promise<RaftClientReply> {
    const type = writeType(options?.replication ?? ReplicationLevel.MAJORITY);
    return this.#ordered.send(type, messageBytes(message), undefined, options?.signal);
  }

  /** An ordered read: of the state after all earlier requests of this client. */
  sendReadOnly(message: MessageInput, options?: ReadOptions): Promise<RaftClientReply> {
    return this.#ordered.send(READ, messageBytes(message), options?.serverId, options?.signal);
  }

  /** An ordered read that sees the client's own earlier writes. */
  sendReadAfterWrite(message: MessageInput, options?: CallOptions): Promise<RaftClientReply> {
    const content = messageBytes(message);
    return this.#ordered.send(READ_AFTER_WRITE, content, undefined, options?.signal);
  }

  /** An ordered read at the leader that may be stale, whatever the servers' read option. */
  sendReadOnlyNonLinearizable(
    message: MessageInput,
    options?: CallOptions,
  ): Promise<RaftClientReply> {
    const content = messageBytes(message);
    return this.#ordered.send(READ_NON_LINEARIZABLE, content, undefined, options?.signal);
  }

  /** A read that waits for no other request. */
  sendReadOnlyUnordered(message: MessageInput, options?: ReadOptions): Promise<RaftClientReply> {
    return this.#unordered.send(READ, messageBytes(message), options?.serverId, options?.signal);
  }

  /** A read of the state of one server, which must have committed `minIndex`. */
  sendStaleRead(
    message: MessageInput,
    minIndex: number,
    serverId: RaftPeerId,
    options?: CallOptions,
  ): Promise<RaftClientReply> {
    const type = { kind: 'staleRead', minIndex } as const;
    return this.#ordered.send(type, messageBytes(message), serverId, options?.signal);
  }

  /**
   * Waits until the entry at `index` is replicated so far; rejects with NotReplicatedException when
   * that takes too long (spec: client 13).
   */
  watch(
    index: number,
    replication: ReplicationLevel,
    options?: CallOptions,
  ): Promise<RaftClientReply> {
    const type = { kind: 'watch', index, replication } as const;
    return this.#unordered.send(type, undefined, undefined, options?.signal);
  }

  /** Hands the leader a serialized data stream request. For the data stream client. */
  sendForward(request: Uint8Array, options?: CallOptions): Promise<RaftClientReply> {
    return this.#ordered.send(FORWARD, request, undefined, options?.signal);
  }
}
