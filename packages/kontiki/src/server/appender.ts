import { toError } from '../common/errors.js';
import type { Logger } from '../common/logger.js';
import type { AppendHeader, AppendOffer, RaftEngine } from '../core/types.js';
import type {
  AppendEntriesReplyMessage,
  CommitInfoMessage,
  LogEntry,
} from '../proto/wire/types.js';
import { AppendResult } from '../proto/wire/types.js';
import type { CallId, RaftPeerId } from '../protocol/ids.js';
import type {
  AppendStream,
  AppendStreamListener,
  CallRoute,
  PeerStubs,
} from '../rpc/ratis/server/peer-stubs.js';
import type { RpcStatus } from '../rpc/transport.js';
import type { RaftLog } from '../storage/types.js';

/** What an appender needs of its division. */
export interface AppenderHooks {
  readonly engine: RaftEngine;
  readonly log: RaftLog;
  readonly logger: Logger;
  readonly limits: { readonly maxBytes: number; readonly maxCount: number };
  /** How often an appender that can't send entries asks for heartbeats. */
  readonly heartbeatPollMs: number;
  commitInfos(): readonly CommitInfoMessage[];
  nowMs(): number;
  /** An input to the engine, carried out in its turn. */
  submit(input: () => void): void;
  /** The follower answered. */
  peerAnswered(peerId: RaftPeerId): void;
  /** A stream to the follower broke. */
  peerFailed(peerId: RaftPeerId, reason: string): void;
  /** Commit index that a follower told. */
  followerCommit(peerId: RaftPeerId, commitIndex: number): void;
  /** The log no longer has what the follower needs: it is to be brought up by snapshot. */
  needsSnapshot(peerId: RaftPeerId): void;
  /** Entries could not be read. */
  readFailed(error: Error): void;
}

type Channel = 'entries' | 'heartbeats';

/**
 * Replicates to one follower or listener: asks the engine what the follower needs, reads it, and
 * writes it to the stream while that has room (design: section 2; spec: consensus 3.3). Heartbeats
 * go on a stream and connection of their own, so bulk data never delays them.
 */
export class Appender {
  readonly peerId: RaftPeerId;
  readonly epoch: number;
  /** When `pump` must be called at the latest. */
  pumpAtMs = 0;
  readonly #stubs: PeerStubs;
  readonly #route: CallRoute;
  readonly #hooks: AppenderHooks;
  #entriesStream: AppendStream | undefined;
  #heartbeatStream: AppendStream | undefined;
  #full = false;
  /** The stream of the heartbeats is full: a peer that stands still must not fill the memory. */
  #heartbeatsFull = false;
  #reading = false;
  /** Entries that were read asynchronously, for the offer that starts there. */
  #prefetched: LogEntry[] | undefined;
  #stopped = false;

  constructor(epoch: number, stubs: PeerStubs, route: CallRoute, hooks: AppenderHooks) {
    this.peerId = route.to;
    this.epoch = epoch;
    this.#stubs = stubs;
    this.#route = route;
    this.#hooks = hooks;
  }

  /** Sends what is to be sent. True when the engine was told of something. */
  pump(): boolean {
    let sent = false;
    // A stale offer is asked for again at once, but not for ever.
    for (let stale = 0; !this.#stopped && stale < 3; ) {
      const nowMs = this.#hooks.nowMs();
      const offer = this.#hooks.engine.nextFor(this.peerId, nowMs);
      if (offer.kind === 'idle') {
        this.pumpAtMs = offer.untilMs;
        return sent;
      }
      if (offer.kind === 'snapshot') {
        this.#hooks.needsSnapshot(this.peerId);
        this.pumpAtMs = nowMs + this.#hooks.heartbeatPollMs;
        return sent;
      }
      const entries = offer.kind === 'entries' ? this.#entriesFor(offer) : this.#heartbeat();
      if (entries === undefined) {
        this.pumpAtMs = nowMs + this.#hooks.heartbeatPollMs;
        return sent;
      }
      if (this.#send(offer, entries)) sent = true;
      else stale++;
    }
    this.pumpAtMs = this.#stopped
      ? Number.POSITIVE_INFINITY
      : this.#hooks.nowMs() + this.#hooks.heartbeatPollMs;
    return sent;
  }

  /** Ends the streams; nothing more is told to the engine. */
  stop(): void {
    this.#stopped = true;
    this.pumpAtMs = Number.POSITIVE_INFINITY;
    this.#entriesStream?.halfClose();
    if (this.#heartbeatStream !== this.#entriesStream) this.#heartbeatStream?.halfClose();
    this.#entriesStream = undefined;
    this.#heartbeatStream = undefined;
  }

  /** No entries, or undefined when no heartbeat can be sent now. */
  #heartbeat(): LogEntry[] | undefined {
    return this.#heartbeatsFull ? undefined : [];
  }

  /** The entries of an offer, or undefined when they can't be sent now. */
  #entriesFor(offer: AppendOffer & { kind: 'entries' }): LogEntry[] | undefined {
    if (this.#full || this.#reading) return undefined;
    const prefetched = this.#prefetched;
    this.#prefetched = undefined;
    if (prefetched !== undefined && this.#fits(prefetched, offer)) return prefetched;
    const entries = this.#hooks.log.read(offer.from, offer.to, {
      ...this.#hooks.limits,
      withData: true,
    });
    if (Array.isArray(entries)) return entries;
    this.#reading = true;
    entries.then(
      (read) => this.#readDone(read),
      (error) => this.#readError(offer.from, toError(error)),
    );
    return undefined;
  }

  /** Read entries are for this offer, and nothing was cut and written anew since. */
  #fits(entries: LogEntry[], offer: AppendOffer & { kind: 'entries' }): boolean {
    const last = entries.at(-1);
    return (
      entries[0]?.index === offer.from &&
      last !== undefined &&
      last.index <= offer.to &&
      entries.every((entry) => this.#hooks.log.termAt(entry.index) === entry.term)
    );
  }

  #readDone(entries: LogEntry[]): void {
    this.#reading = false;
    this.#prefetched = entries;
    this.#pumpSoon();
  }

  #readError(from: number, error: Error): void {
    this.#reading = false;
    if (this.#stopped) return;
    // Purged meanwhile: the next offer says what the follower needs now.
    if (from < this.#hooks.log.startIndex) this.#pumpSoon();
    else this.#hooks.readFailed(error);
  }

  #pumpSoon(): void {
    if (this.#stopped) return;
    this.#hooks.submit(() => {
      this.pumpAtMs = 0;
    });
  }

  #send(offer: AppendOffer & { kind: 'entries' | 'heartbeat' }, entries: LogEntry[]): boolean {
    const { engine } = this.#hooks;
    const count = entries.length;
    // Opened first: what `commitSend` decides must be about a request that really leaves.
    const stream = this.#streamFor(count === 0 ? 'heartbeats' : 'entries');
    const header = engine.commitSend(this.peerId, offer.token, count, this.#hooks.nowMs());
    if (header === undefined) return false;
    const room = stream.send(this.#headerOf(header), entries);
    if (!room && stream === this.#entriesStream) this.#full = true;
    if (!room && count === 0) this.#heartbeatsFull = true;
    return true;
  }

  #headerOf(header: AppendHeader) {
    return {
      requestorId: this.#route.from,
      replyId: this.#route.to,
      raftGroupId: this.#route.groupId.bytes,
      callId: header.callId,
      leaderTerm: header.leaderTerm,
      previousTerm: header.previous?.term,
      previousIndex: header.previous?.index,
      leaderCommit: header.leaderCommit,
      initializing: header.initializing,
      commitInfos: this.#hooks.commitInfos(),
      spanContext: undefined,
    };
  }

  #streamFor(channel: Channel): AppendStream {
    if (channel === 'entries' || !this.#stubs.hasHeartbeatChannel) {
      this.#entriesStream ??= this.#open('entries');
      return this.#entriesStream;
    }
    this.#heartbeatStream ??= this.#open('heartbeats');
    return this.#heartbeatStream;
  }

  #open(channel: Channel): AppendStream {
    const listener: AppendStreamListener = {
      onReply: (reply) => this.#hooks.submit(() => this.#onReply(reply)),
      onDrain: () => {
        if (channel === 'entries') this.#full = false;
        if (channel === 'heartbeats' || !this.#stubs.hasHeartbeatChannel) {
          this.#heartbeatsFull = false;
        }
        this.#pumpSoon();
      },
      onEnd: (failed, clean, status) =>
        this.#hooks.submit(() => this.#onEnd(failed, clean, status)),
    };
    return this.#stubs.openAppendStream(channel, listener);
  }

  #onReply(reply: AppendEntriesReplyMessage): void {
    if (this.#stopped) return;
    const { engine } = this.#hooks;
    this.#hooks.peerAnswered(this.peerId);
    if (reply.result === AppendResult.SUCCESS) {
      this.#hooks.followerCommit(this.peerId, reply.followerCommit);
    }
    engine.onAppendReply(this.peerId, this.epoch, reply, this.#hooks.nowMs());
    this.pumpAtMs = 0;
  }

  /** Both streams are forgotten when one ends (spec: wire-grpc 7.3.4). */
  #onEnd(
    failed: { readonly callId: CallId; readonly isHeartbeat: boolean } | undefined,
    clean: boolean,
    status: RpcStatus,
  ): void {
    if (this.#stopped) return;
    if (!clean) this.#hooks.peerFailed(this.peerId, status.message);
    this.#entriesStream?.cancel();
    if (this.#heartbeatStream !== this.#entriesStream) this.#heartbeatStream?.cancel();
    this.#entriesStream = undefined;
    this.#heartbeatStream = undefined;
    this.#full = false;
    this.#heartbeatsFull = false;
    this.#prefetched = undefined;
    const { engine } = this.#hooks;
    engine.onAppendStreamEnded(this.peerId, this.epoch, failed, clean, this.#hooks.nowMs());
    this.pumpAtMs = 0;
  }
}
