import type { RaftPeerId } from '../protocol/ids.js';
import type { RaftClientReply, RequestType } from '../protocol/requests.js';
import type { PeerConnection } from '../rpc/ratis/client/peer-connection.js';
import { UnorderedStream } from '../rpc/ratis/client/unordered-stream.js';
import type { ClientCore } from './client-core.js';
import { RetryingCall } from './retrying-call.js';

/**
 * The unordered path: one long-lived stream to each server, replies in any order (spec: client 8).
 */
export class UnorderedAsync {
  readonly #core: ClientCore;
  readonly #streams = new Map<RaftPeerId, UnorderedStream>();

  constructor(core: ClientCore) {
    this.#core = core;
    core.addOutstanding(this);
  }

  send(
    type: RequestType,
    content: Uint8Array | undefined,
    serverId: RaftPeerId | undefined,
    signal: AbortSignal | undefined,
  ): Promise<RaftClientReply> {
    const core = this.#core;
    const callId = core.callIds.next();
    const toLeader = serverId === undefined;
    const body = { callId, toLeader, type, content, repliedCallIds: core.takeReplied(toLeader) };
    const call = new RetryingCall<RaftClientReply>(core, {
      callId,
      serverId,
      toLeader,
      type,
      content,
      isBlocking: false,
      booksReply: true,
      describe: () => `${type.kind} request ${callId} of ${core.clientId}`,
      attempt: (target, outcome) => {
        const bytes = core.encoder.encode(body, target, undefined, false);
        this.#streamTo(target).send(callId, bytes, core.timeoutOf(type), outcome);
        return undefined;
      },
    });
    return call.start(signal);
  }

  /** The calls are told one by one; here the streams end. */
  onClientClosed(): void {
    for (const stream of this.#streams.values()) stream.abandon();
    this.#streams.clear();
  }

  #streamTo(serverId: RaftPeerId): UnorderedStream {
    const connection: PeerConnection = this.#core.connections.get(serverId);
    const known = this.#streams.get(serverId);
    if (known !== undefined && !known.isOver && known.connection === connection) return known;
    const stream = new UnorderedStream(connection, this.#core, this.#core.runtime);
    this.#streams.set(serverId, stream);
    return stream;
  }
}
