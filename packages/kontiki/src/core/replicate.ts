import { assert } from '../common/errors.js';
import type { RaftPeerId } from '../protocol/ids.js';
import type { LeaderState } from './leader-state.js';
import { clampCommit, type FollowerRecord } from './progress.js';
import type { CoreState } from './state.js';
import type { AppendHeader, AppendOffer, SendToken } from './types.js';

const NEVER: AppendOffer = { kind: 'idle', untilMs: Number.POSITIVE_INFINITY };

/** What a follower needs next (spec: consensus 3.3, 3.4). */
export function nextFor(s: CoreState, peerId: RaftPeerId): AppendOffer {
  const record = s.leader?.records.get(peerId);
  if (record === undefined) return NEVER;
  const { nowMs, config, log } = s;
  if (nowMs < record.pauseUntilMs) return { kind: 'idle', untilMs: record.pauseUntilMs };
  const waitMs = record.heartbeatWaitMs(config.rpcTimeoutMinMs, nowMs);
  const token: SendToken = { term: s.term, epoch: record.epoch, from: record.nextIndex };
  if (waitMs <= 0) return { kind: 'heartbeat', token };
  const behind = record.nextIndex < log.nextIndex;
  if ((behind || s.commitIndex > record.commitIndex) && needsSnapshot(s, record)) {
    return { kind: 'snapshot', token };
  }
  if (!behind || isFull(s, record)) return { kind: 'idle', untilMs: nowMs + waitMs };
  const spacedMs = record.lastSendMs + config.appenderWaitTimeMinMs;
  if (nowMs < spacedMs) return { kind: 'idle', untilMs: Math.min(spacedMs, nowMs + waitMs) };
  return { kind: 'entries', token, from: record.nextIndex, to: log.lastIndex };
}

/** A request is about to be written; undefined when the offer is stale. */
export function commitSend(
  s: CoreState,
  peerId: RaftPeerId,
  token: SendToken,
  count: number,
): AppendHeader | undefined {
  const { leader } = s;
  const record = leader?.records.get(peerId);
  if (leader === undefined || record === undefined) return undefined;
  if (token.term !== s.term || token.epoch !== record.epoch) return undefined;
  return count === 0
    ? sendHeartbeat(s, leader, record)
    : sendEntries(s, leader, record, token, count);
}

/**
 * More than one request is in flight only after the first of a stream was answered (spec: consensus
 * 3.3).
 */
function isFull(s: CoreState, record: FollowerRecord): boolean {
  const inFlight = record.pendingData.length;
  return inFlight > 0 && (inFlight >= s.config.outstandingAppendsMax || !record.streamProven);
}

/** Entries that the follower needs are gone from the log (spec: consensus 3.8.4). */
function needsSnapshot(s: CoreState, record: FollowerRecord): boolean {
  const { log } = s;
  if (!record.caughtUp && !record.snapshotAttempted) {
    if (log.snapshot !== undefined || s.config.snapshotByNotification === true) return true;
    record.snapshotAttempted = true;
  }
  const { nextIndex } = record;
  if (nextIndex >= log.nextIndex) return false;
  if (log.isEmpty || nextIndex < log.startIndex) return true;
  return !canFollow(s, record, nextIndex);
}

/**
 * A request that starts at `from` can name its previous entry, or needs none (spec: consensus 3.4
 * step 3).
 */
function canFollow(s: CoreState, record: FollowerRecord, from: number): boolean {
  if (from === 0 || from === record.snapshotIndex + 1) return true;
  return s.log.termAt(from - 1) !== undefined;
}

function sendEntries(
  s: CoreState,
  leader: LeaderState,
  record: FollowerRecord,
  token: SendToken,
  count: number,
): AppendHeader | undefined {
  const from = record.nextIndex;
  if (token.from !== from || isFull(s, record)) return undefined;
  if (from < s.log.startIndex || !canFollow(s, record, from)) return undefined;
  const last = from + count - 1;
  assert(last <= s.log.lastIndex, `entry ${last} is sent but not in the log`);
  const previous = s.log.previousOf(from);
  const callId = record.nextCallId++;
  record.pendingData.push({ callId, sentMs: s.nowMs, from, readSequence: leader.reads.sequence });
  record.sent(from, count);
  record.lastSendMs = s.nowMs;
  return {
    callId,
    leaderTerm: leader.term,
    previous,
    leaderCommit: clampCommit(s.commitIndex, previous?.index, count),
    initializing: !record.caughtUp,
  };
}

/**
 * While data is in flight the follower may lack what is before its next index, so a heartbeat names
 * no previous entry then; and one without it proves nothing, so it carries no commit index (spec:
 * consensus 3.4 step 2, H-2).
 */
function sendHeartbeat(s: CoreState, leader: LeaderState, record: FollowerRecord): AppendHeader {
  const from = record.nextIndex;
  const previous = record.pendingData.length > 0 ? undefined : s.log.previousOf(from);
  const callId = record.nextCallId++;
  record.pendingHeartbeats.push({
    callId,
    sentMs: s.nowMs,
    from,
    readSequence: leader.reads.sequence,
  });
  record.heartbeatTriggered = false;
  record.lastSendMs = s.nowMs;
  record.lastHeartbeatSendMs = s.nowMs;
  return {
    callId,
    leaderTerm: leader.term,
    previous,
    leaderCommit: clampCommit(s.commitIndex, previous?.index, 0),
    initializing: !record.caughtUp,
  };
}
