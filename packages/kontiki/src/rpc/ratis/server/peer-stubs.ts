import { toError } from '../../../common/errors.js';
import type { VoteReply, VoteRequest } from '../../../core/types.js';
import {
  decodeReadIndexReply,
  decodeRequestVoteReply,
  decodeStartLeaderElectionReply,
  encodeReadIndexRequest,
  encodeRequestVoteRequest,
  encodeStartLeaderElectionRequest,
  failedCallOfTrailers,
} from '../../../proto/convert/index.js';
import { decodeAppendEntriesReply, encodeAppendEntriesRequest } from '../../../proto/wire/index.js';
import type {
  AppendEntriesReplyMessage,
  AppendEntriesRequestHeader,
  LogEntry,
} from '../../../proto/wire/types.js';
import { ReadIndexException } from '../../../protocol/exceptions.js';
import type { CallId, RaftGroupId, RaftPeerId } from '../../../protocol/ids.js';
import type { RaftClientRequest } from '../../../protocol/requests.js';
import type { TermIndex } from '../../../protocol/term-index.js';
import {
  type ChannelOptions,
  type ClientStream,
  type PendingCall,
  type RpcChannel,
  type RpcStatus,
  type RpcTransport,
  StatusCode,
  type StreamListener,
} from '../../transport.js';
import { InstallStream, type InstallStreamListener } from './install-stream.js';
import { Paths } from './method-paths.js';
import { errorOfStatus } from './status.js';

/** Between which servers, in which group, a call is made. */
export interface CallRoute {
  readonly from: RaftPeerId;
  readonly to: RaftPeerId;
  readonly groupId: RaftGroupId;
}

/** What an append stream tells the appender. */
export interface AppendStreamListener {
  onReply(reply: AppendEntriesReplyMessage): void;
  /** There is room again after `send` returned false. */
  onDrain(): void;
  /**
   * The stream is over. `failed` names the request when the peer told which; `clean`: completed
   * without an error.
   */
  onEnd(
    failed: { readonly callId: CallId; readonly isHeartbeat: boolean } | undefined,
    clean: boolean,
    status: RpcStatus,
  ): void;
}

/** A stream of append requests to one peer. */
export class AppendStream implements StreamListener {
  readonly #listener: AppendStreamListener;
  readonly #stream: ClientStream;
  #ended = false;

  constructor(channel: RpcChannel, listener: AppendStreamListener) {
    this.#listener = listener;
    this.#stream = channel.openStream(Paths.appendEntries, this);
  }

  /** False: the stream is full, wait for `onDrain`. */
  send(header: AppendEntriesRequestHeader, entries: readonly LogEntry[]): boolean {
    return this.#stream.send(encodeAppendEntriesRequest(header, entries));
  }

  /** No more requests; replies are no longer told. */
  halfClose(): void {
    this.#ended = true;
    this.#stream.halfClose();
  }

  /** Drops the stream; nothing more is told. */
  cancel(): void {
    this.#ended = true;
    this.#stream.cancel();
  }

  onMessage(message: Uint8Array): void {
    if (this.#ended) return;
    let reply: AppendEntriesReplyMessage;
    try {
      reply = decodeAppendEntriesReply(message);
    } catch (error) {
      this.cancel();
      const status = { code: StatusCode.INTERNAL, message: toError(error).message, metadata: {} };
      this.#listener.onEnd(undefined, false, status);
      return;
    }
    this.#listener.onReply(reply);
  }

  onDrain(): void {
    if (!this.#ended) this.#listener.onDrain();
  }

  onEnd(status: RpcStatus): void {
    if (this.#ended) return;
    this.#ended = true;
    const failed = failedCallOfTrailers(status.metadata);
    this.#listener.onEnd(
      failed === undefined
        ? undefined
        : { callId: failed.callId, isHeartbeat: failed.heartbeat ?? false },
      status.code === StatusCode.OK,
      status,
    );
  }
}

/**
 * The connections to one peer's main listener, shared by all groups: one for entries and snapshots,
 * one for heartbeats, and one for unary calls, because cancelled calls can cost a connection its
 * life (design: section 4).
 */
export class PeerStubs {
  readonly address: string;
  readonly #main: RpcChannel;
  readonly #calls: RpcChannel;
  readonly #heartbeats: RpcChannel;
  readonly #requestTimeoutMs: number;
  #nextCallId = 1;

  constructor(
    transport: RpcTransport,
    address: string,
    options: ChannelOptions,
    settings: { readonly heartbeatChannel: boolean; readonly requestTimeoutMs: number },
  ) {
    this.address = address;
    this.#main = transport.createChannel(address, options);
    this.#calls = transport.createChannel(address, options);
    this.#heartbeats = settings.heartbeatChannel
      ? transport.createChannel(address, options)
      : this.#main;
    this.#requestTimeoutMs = settings.requestTimeoutMs;
  }

  openAppendStream(kind: 'entries' | 'heartbeats', listener: AppendStreamListener): AppendStream {
    const channel = kind === 'entries' ? this.#main : this.#heartbeats;
    channel.resetBackoff();
    return new AppendStream(channel, listener);
  }

  /** For one snapshot, or one notification; on the main connection (spec: wire-grpc 7.4). */
  openInstallStream(listener: InstallStreamListener): InstallStream {
    this.#main.resetBackoff();
    return new InstallStream(this.#main, listener);
  }

  /** True when heartbeats have their own connection. */
  get hasHeartbeatChannel(): boolean {
    return this.#heartbeats !== this.#main;
  }

  requestVote(
    route: CallRoute,
    request: VoteRequest,
    done: (reply: VoteReply | undefined, error: Error | undefined) => void,
  ): PendingCall {
    const bytes = encodeRequestVoteRequest({ ...this.#head(route), ...request });
    return this.#call(Paths.requestVote, bytes, decodeRequestVoteReply, done);
  }

  /**
   * The leader's read index for `request`, which is sent without its message (spec: consensus 7.4).
   */
  readIndex(
    route: CallRoute,
    request: RaftClientRequest,
    done: (readIndex: number | undefined, error: Error | undefined) => void,
  ): PendingCall {
    const bytes = encodeReadIndexRequest({ ...this.#head(route), clientRequest: request });
    return this.#call(Paths.readIndex, bytes, readIndexOf, done);
  }

  /** Asks the peer to campaign; false when it refuses (spec: consensus 2.9). */
  startLeaderElection(
    route: CallRoute,
    leaderLastEntry: TermIndex,
    done: (accepted: boolean | undefined, error: Error | undefined) => void,
  ): PendingCall {
    const bytes = encodeStartLeaderElectionRequest({ ...this.#head(route), leaderLastEntry });
    const accepted = (reply: Uint8Array): boolean => decodeStartLeaderElectionReply(reply).accepted;
    return this.#call(Paths.startLeaderElection, bytes, accepted, done);
  }

  close(graceMs: number): void {
    for (const channel of new Set([this.#main, this.#calls, this.#heartbeats])) {
      channel.close(graceMs);
    }
  }

  #head(route: CallRoute) {
    return {
      requestorId: route.from,
      replyId: route.to,
      groupId: route.groupId,
      callId: this.#nextCallId++,
    };
  }

  #call<T>(
    path: string,
    request: Uint8Array,
    decode: (bytes: Uint8Array) => T,
    done: (reply: T | undefined, error: Error | undefined) => void,
  ): PendingCall {
    this.#calls.resetBackoff();
    const options = { timeoutMs: this.#requestTimeoutMs };
    return this.#calls.call(path, request, options, (status, reply) => {
      if (reply === undefined) {
        done(undefined, errorOfStatus(status));
        return;
      }
      let decoded: T;
      try {
        decoded = decode(reply);
      } catch (error) {
        done(undefined, toError(error));
        return;
      }
      done(decoded, undefined);
    });
  }
}

function readIndexOf(bytes: Uint8Array): number {
  const reply = decodeReadIndexReply(bytes);
  if (!reply.success) throw new ReadIndexException('the leader gave no read index');
  return reply.readIndex;
}
