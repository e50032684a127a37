import type { Random } from '../common/runtime.js';
import type { CallId, RaftPeerId } from '../protocol/ids.js';

/** A request that waits for its reply. */
export interface PendingAppend {
  readonly callId: number;
  readonly sentMs: number;
  /** First index; for heartbeats the next index when it was sent. */
  readonly from: number;
  /** Number of reads that were registered before it was sent (see `read-index.ts`). */
  readonly readSequence: number;
}

/** What the leader knows of one follower or listener (spec: consensus 3.1). */
export class FollowerRecord {
  readonly peerId: RaftPeerId;
  /** Names the appender; replies of an older one are ignored (spec: H-18). */
  readonly epoch: number;
  /** Where its appender connects to. */
  readonly address: string;
  nextIndex: number;
  matchIndex: number;
  commitIndex = -1;
  snapshotIndex = 0;
  caughtUp: boolean;
  snapshotAttempted = false;
  lastResponseMs: number;
  lastSendMs: number;
  lastHeartbeatSendMs: number;
  /** When the request was sent whose reply came last: for the lease. */
  lastRespondedSendMs: number;
  errors = 0;
  /** No sending before, after errors (spec: consensus 3.3). */
  pauseUntilMs = 0;
  nextCallId = 0;
  /**
   * First index that was sent and not acknowledged; it outlives requests that were forgotten.
   * Infinity if there is none.
   */
  unackedFrom = Number.POSITIVE_INFINITY;
  /** Greatest index that was sent by this appender. */
  sentIndex: number;
  /** A data request was answered on this stream, so more than one may be in flight. */
  streamProven = false;
  heartbeatTriggered = false;
  wakePending = false;
  slowReportedMs = Number.NEGATIVE_INFINITY;
  /** Reads that this follower has confirmed. */
  readSequence = 0;
  readonly pendingData: PendingAppend[] = [];
  readonly pendingHeartbeats: PendingAppend[] = [];

  constructor(options: {
    peerId: RaftPeerId;
    address: string;
    epoch: number;
    nextIndex: number;
    matchIndex: number;
    caughtUp: boolean;
    longAgoMs: number;
  }) {
    this.peerId = options.peerId;
    this.address = options.address;
    this.epoch = options.epoch;
    this.matchIndex = options.matchIndex;
    this.sentIndex = options.matchIndex;
    this.nextIndex = options.nextIndex;
    this.caughtUp = options.caughtUp;
    this.lastResponseMs = options.longAgoMs;
    this.lastSendMs = options.longAgoMs;
    this.lastHeartbeatSendMs = options.longAgoMs;
    this.lastRespondedSendMs = options.longAgoMs;
  }

  /** Removes the request from those in flight; undefined when it was forgotten before. */
  takePending(callId: CallId, isHeartbeat: boolean): PendingAppend | undefined {
    const pending = isHeartbeat ? this.pendingHeartbeats : this.pendingData;
    if (pending[0]?.callId === callId) return pending.shift();
    const at = pending.findIndex((request) => request.callId === callId);
    return at < 0 ? undefined : pending.splice(at, 1)[0];
  }

  /** Entries were sent. */
  sent(from: number, count: number): void {
    this.nextIndex = from + count;
    this.sentIndex = Math.max(this.sentIndex, from + count - 1);
    this.unackedFrom = Math.min(this.unackedFrom, from);
  }

  /** Entries up to `matchIndex` are durable at the follower. */
  matched(matchIndex: number): void {
    this.matchIndex = matchIndex;
    if (this.nextIndex <= matchIndex) this.nextIndex = matchIndex + 1;
    const open = matchIndex + 1 < this.nextIndex && this.unackedFrom < this.nextIndex;
    this.unackedFrom = open ? Math.max(this.unackedFrom, matchIndex + 1) : Infinity;
  }

  /**
   * Whatever is not acknowledged is lost: sending starts again there, never before what is matched
   * (RATIS-1835).
   */
  rewind(): void {
    this.nextIndex = Math.max(this.matchIndex + 1, Math.min(this.nextIndex, this.unackedFrom));
    this.forgetPending();
  }

  /** The follower says where to go on; what was sent before does not matter any more. */
  resumeAt(nextIndex: number): void {
    this.nextIndex = nextIndex;
    this.unackedFrom = Number.POSITIVE_INFINITY;
  }

  /** The stream begins again with one probe (RATIS-558). */
  private forgetPending(): void {
    this.pendingData.length = 0;
    this.pendingHeartbeats.length = 0;
    this.streamProven = false;
    this.unackedFrom = Number.POSITIVE_INFINITY;
  }

  /** Forgets requests sent at or before `limitMs`; true if there were any (spec: consensus 3.3). */
  expirePending(limitMs: number): boolean {
    let expired = false;
    for (const pending of [this.pendingData, this.pendingHeartbeats]) {
      while (pending.length > 0 && (pending[0] as PendingAppend).sentMs <= limitMs) {
        pending.shift();
        expired = true;
      }
    }
    return expired;
  }

  /** Milliseconds until a heartbeat is due, 0 or less: now (spec: consensus 3.3, RATIS-1418). */
  heartbeatWaitMs(rpcTimeoutMinMs: number, nowMs: number): number {
    if (this.heartbeatTriggered) return 0;
    return heartbeatWaitMs(
      rpcTimeoutMinMs,
      nowMs - this.lastResponseMs,
      nowMs - this.lastHeartbeatSendMs,
    );
  }
}

/** Paced by the last response and by the last heartbeat that was sent (spec: consensus 3.3). */
export function heartbeatWaitMs(
  rpcTimeoutMinMs: number,
  sinceResponseMs: number,
  sinceHeartbeatMs: number,
): number {
  return Math.max(
    Math.floor(rpcTimeoutMinMs / 2) - sinceResponseMs,
    Math.floor(rpcTimeoutMinMs / 4) - sinceHeartbeatMs,
  );
}

/**
 * Next index after an INCONSISTENCY reply (spec: consensus 3.8.1). `failedFrom` is the first index
 * of the request, -1 for a heartbeat or an unknown one.
 */
export function nextAfterInconsistency(
  failedFrom: number,
  replyNextIndex: number,
  matchIndex: number,
): number {
  const match = matchIndex + 1;
  const next = match > replyNextIndex && match !== failedFrom ? match : replyNextIndex;
  return next === failedFrom && next > 0 ? next - 1 : next;
}

/**
 * Next index after a failed data request, where `proven` is 1 + the index of its previous (spec:
 * consensus 3.8.2).
 */
export function nextAfterError(nextIndex: number, proven: number, matchIndex: number): number {
  const next = nextIndex <= 0 ? nextIndex : Math.min(nextIndex - 1, proven);
  return Math.max(matchIndex + 1, next);
}

/** What a request proves to be shared at most: its last index (spec: consensus 3.6, H-2). */
export function clampCommit(
  commitIndex: number,
  previousIndex: number | undefined,
  count: number,
): number {
  return Math.min(commitIndex, (previousIndex ?? -1) + count);
}

/**
 * Pause after `errors` consecutive errors; past the end of the list the last one stays (spec:
 * consensus 3.3, H-19).
 */
export function retryPauseMs(
  pauses: readonly (readonly [number, number])[],
  errors: number,
  random: Random,
): number {
  let walked = 0;
  let pauseMs = 0;
  for (const [sleepMs, count] of pauses) {
    pauseMs = sleepMs;
    walked += count;
    if (errors <= walked) break;
  }
  return pauseMs * (0.5 + random.nextUint32() / 0x1_0000_0000);
}
