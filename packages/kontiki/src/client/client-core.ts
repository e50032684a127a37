import type { Logger } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import { AlreadyClosedException, IllegalArgumentException } from '../protocol/exceptions.js';
import type { ClientId, RaftGroupId, RaftPeerId } from '../protocol/ids.js';
import { isReadOnly, type RaftClientReply, type RequestType } from '../protocol/requests.js';
import type { RetryPolicy } from '../protocol/retry/policy.js';
import type { Connections } from '../rpc/ratis/client/connections.js';
import type { RequestEncoder } from '../rpc/ratis/client/request-encoder.js';
import type { CallIds } from './call-ids.js';
import type { LeaderTracker } from './leader-tracker.js';
import { RepliedCallIds } from './replied-call-ids.js';
import { Sleeper } from './sleeper.js';

/**
 * Room in a request for everything but its content and its replied call ids, and for one of these.
 */
const REQUEST_HEAD_BYTES = 256;
const CALL_ID_BYTES = 8;

/** Limits and times of a client, from its properties. */
export interface ClientSettings {
  /** For one attempt of any request but a watch. */
  readonly requestTimeoutMs: number;
  readonly watchRequestTimeoutMs: number;
  /** Ordered requests without a reply. */
  readonly maxOutstandingRequests: number;
  readonly sendDummyRequest: boolean;
  readonly maxMessageBytes: number;
  /** Chunk of a message stream. */
  readonly submessageBytes: number;
}

/** Something that waits for an answer and must hear of the end of the client. */
export interface Outstanding {
  onClientClosed(error: AlreadyClosedException): void;
}

export interface ClientCoreOptions {
  readonly clientId: ClientId;
  readonly groupId: RaftGroupId;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly settings: ClientSettings;
  readonly retryPolicy: RetryPolicy;
  readonly connections: Connections;
  readonly leader: LeaderTracker;
  readonly callIds: CallIds;
  readonly encoder: RequestEncoder;
}

/** What the paths of one client share. */
export class ClientCore {
  readonly clientId: ClientId;
  readonly groupId: RaftGroupId;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly settings: ClientSettings;
  readonly retryPolicy: RetryPolicy;
  readonly connections: Connections;
  readonly leader: LeaderTracker;
  readonly callIds: CallIds;
  readonly encoder: RequestEncoder;
  readonly replied = new RepliedCallIds();
  readonly sleeper: Sleeper;
  readonly #outstanding = new Set<Outstanding>();
  #closed = false;

  constructor(options: ClientCoreOptions) {
    this.clientId = options.clientId;
    this.groupId = options.groupId;
    this.runtime = options.runtime;
    this.logger = options.logger;
    this.settings = options.settings;
    this.retryPolicy = options.retryPolicy;
    this.connections = options.connections;
    this.leader = options.leader;
    this.callIds = options.callIds;
    this.encoder = options.encoder;
    this.sleeper = new Sleeper(options.runtime);
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  closedError(): AlreadyClosedException {
    return new AlreadyClosedException(`${this.clientId} is closed`);
  }

  /**
   * Why a request with `content` cannot be sent at all, if so. Too large a request is refused
   * before it is sent anywhere: on the ordered path it would be the end of its window.
   */
  refusalOf(content: Uint8Array | undefined): Error | undefined {
    if (this.#closed) return this.closedError();
    const limit = this.settings.maxMessageBytes;
    const size = content?.length ?? 0;
    const repliedBytes = CALL_ID_BYTES * this.settings.maxOutstandingRequests;
    if (size + REQUEST_HEAD_BYTES + repliedBytes <= limit) return undefined;
    const text = `a message of ${size} bytes does not fit into a request of at most ${limit} bytes`;
    return new IllegalArgumentException(text);
  }

  addOutstanding(item: Outstanding): void {
    this.#outstanding.add(item);
  }

  removeOutstanding(item: Outstanding): void {
    this.#outstanding.delete(item);
  }

  /** Call ids to send with a new request (spec: client 3.2). */
  takeReplied(toLeader: boolean): readonly number[] {
    return toLeader ? this.replied.take() : [];
  }

  /** Books the answer to a leader-bound request (spec: client 6, handleReply). */
  onReply(type: RequestType, callId: number, reply: RaftClientReply): void {
    if (!isReadOnly(type)) this.replied.add(callId);
    if (reply.exception === undefined) this.leader.onAnswered(reply.serverId);
  }

  /**
   * Pause before the next attempt at `serverId`, at least `delayMs`: longer while the server cannot
   * be reached.
   */
  delayBefore(serverId: RaftPeerId, delayMs: number): number {
    return Math.max(delayMs, this.connections.backoffMs(serverId));
  }

  timeoutOf(type: RequestType): number {
    const { requestTimeoutMs, watchRequestTimeoutMs } = this.settings;
    return type.kind === 'watch' ? watchRequestTimeoutMs : requestTimeoutMs;
  }

  /** Rejects everything that is outstanding. */
  close(): void {
    this.#closed = true;
    this.sleeper.close();
    const error = this.closedError();
    const outstanding = [...this.#outstanding];
    this.#outstanding.clear();
    for (const item of outstanding) item.onClientClosed(error);
  }
}
