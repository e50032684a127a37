import type { RaftPeerId } from '../protocol/ids.js';
import type { RaftClientReply } from '../protocol/requests.js';
import { ReplicationLevel } from '../protocol/requests.js';
import type { ReadOptions } from './async-api.js';
import { sendBlocking } from './blocking.js';
import type { ClientCore } from './client-core.js';
import {
  type CallOptions,
  type MessageInput,
  messageBytes,
  READ,
  READ_AFTER_WRITE,
  READ_NON_LINEARIZABLE,
  writeType,
} from './request-types.js';

/**
 * Requests that each have a stream of their own and know no order (spec: client 3, 5): Ratis'
 * blocking calls. An abort cancels the attempt that is on its way. Calls reject as those of
 * AsyncApi do.
 */
export class BlockingApi {
  readonly #core: ClientCore;

  constructor(core: ClientCore) {
    this.#core = core;
  }

  /** A write, answered when a majority has it. */
  send(message: MessageInput, options?: CallOptions): Promise<RaftClientReply> {
    const type = writeType(ReplicationLevel.MAJORITY);
    return sendBlocking(this.#core, type, messageBytes(message), undefined, options?.signal);
  }

  sendReadOnly(message: MessageInput, options?: ReadOptions): Promise<RaftClientReply> {
    const content = messageBytes(message);
    return sendBlocking(this.#core, READ, content, options?.serverId, options?.signal);
  }

  /** A read at the leader that may be stale, whatever the servers' read option. */
  sendReadOnlyNonLinearizable(
    message: MessageInput,
    options?: CallOptions,
  ): Promise<RaftClientReply> {
    const content = messageBytes(message);
    return sendBlocking(this.#core, READ_NON_LINEARIZABLE, content, undefined, options?.signal);
  }

  /** A read that sees the client's own earlier writes. */
  sendReadAfterWrite(message: MessageInput, options?: CallOptions): Promise<RaftClientReply> {
    const content = messageBytes(message);
    return sendBlocking(this.#core, READ_AFTER_WRITE, content, undefined, options?.signal);
  }

  /** A read of the state of one server, which must have committed `minIndex`. */
  sendStaleRead(
    message: MessageInput,
    minIndex: number,
    serverId: RaftPeerId,
    options?: CallOptions,
  ): Promise<RaftClientReply> {
    const type = { kind: 'staleRead', minIndex } as const;
    return sendBlocking(this.#core, type, messageBytes(message), serverId, options?.signal);
  }

  /**
   * Waits until the entry at `index` is replicated so far. A watch that runs out of time at the
   * server is repeated by policy.
   */
  watch(
    index: number,
    replication: ReplicationLevel,
    options?: CallOptions,
  ): Promise<RaftClientReply> {
    const type = { kind: 'watch', index, replication } as const;
    return sendBlocking(this.#core, type, undefined, undefined, options?.signal);
  }
}
