import { AppendResult } from '../proto/wire/types.js';
import type { CallId, RaftPeerId } from '../protocol/ids.js';
import { countError, resetPipeline } from './back-off.js';
import { updateCommit } from './commit.js';
import {
  type FollowerRecord,
  nextAfterError,
  nextAfterInconsistency,
  type PendingAppend,
} from './progress.js';
import { confirmReads, repeatConfirmation } from './read-index.js';
import type { CoreState } from './state.js';
import type { AppendReplyReceived } from './types.js';

function recordOf(s: CoreState, peerId: RaftPeerId, epoch: number): FollowerRecord | undefined {
  const record = s.leader?.records.get(peerId);
  return record?.epoch === epoch ? record : undefined;
}

/** A reply to an append request (spec: consensus 3.8). */
export function onAppendReply(
  s: CoreState,
  peerId: RaftPeerId,
  epoch: number,
  reply: AppendReplyReceived,
): void {
  const record = recordOf(s, peerId, epoch);
  if (record === undefined) return;
  const request = record.takePending(reply.callId, reply.isHeartbeat);
  if (request !== undefined) record.lastRespondedSendMs = request.sentMs;
  record.lastResponseMs = s.nowMs;
  if (reply.result === AppendResult.SUCCESS) {
    onSuccess(s, record, reply);
  } else if (reply.result === AppendResult.NOT_LEADER) {
    if (onNotLeader(s, record, reply, request)) return;
  } else if (reply.result === AppendResult.INCONSISTENCY) {
    onInconsistency(s, record, reply, request);
  } else {
    return;
  }
  // A reply that refuses this leader confirms nothing.
  const { leader } = s;
  if (leader === undefined) return;
  if (request !== undefined && reply.result !== AppendResult.NOT_LEADER) {
    confirmReads(s, leader, record, request.readSequence);
  }
  s.wake(record);
}

/** A heartbeat's reply proves no more than its request's previous entry, so it raises nothing (spec: I-11, RATIS-2605). */
function onSuccess(s: CoreState, record: FollowerRecord, reply: AppendReplyReceived): void {
  record.errors = 0;
  if (reply.followerCommit > record.commitIndex) record.commitIndex = reply.followerCommit;
  if (reply.isHeartbeat) return;
  record.streamProven = true;
  const { matchIndex } = reply;
  // More than was sent by this appender cannot be promised.
  if (matchIndex <= record.matchIndex || matchIndex > record.sentIndex) return;
  record.matchIndex = matchIndex;
  if (record.nextIndex <= matchIndex) record.nextIndex = matchIndex + 1;
  if (record.caughtUp) updateCommit(s);
}

/** True if the office was lost. Terms of peers that are only being brought up do not count (spec: consensus 2.7, 3.8). */
function onNotLeader(
  s: CoreState,
  record: FollowerRecord,
  reply: AppendReplyReceived,
  request: PendingAppend | undefined,
): boolean {
  if (record.caughtUp && reply.term > s.term) {
    s.roles.stepToFollower(reply.term, { reason: 'HIGHER_TERM' });
    return true;
  }
  countError(s, record);
  rewind(record, request !== undefined && !reply.isHeartbeat ? request.from : undefined);
  return false;
}

function onInconsistency(
  s: CoreState,
  record: FollowerRecord,
  reply: AppendReplyReceived,
  request: PendingAppend | undefined,
): void {
  // Requests that were in flight behind an inconsistent one fail too; the first of them has said it all.
  if (request === undefined) return;
  const failedFrom = reply.isHeartbeat ? -1 : request.from;
  const before = Math.max(record.nextIndex, request.from);
  record.pendingData.length = 0;
  record.streamProven = false;
  const next = nextAfterInconsistency(failedFrom, reply.nextIndex, record.matchIndex);
  record.nextIndex = Math.min(Math.max(next, 0), s.log.nextIndex);
  // A step back is progress, and a log can be long: only standing still earns a pause.
  if (record.nextIndex >= before) countError(s, record);
}

/** The next request starts again at the oldest one that was lost (spec: consensus 3.8.2). */
function rewind(record: FollowerRecord, from: number | undefined): void {
  const oldest = Math.min(from ?? Infinity, record.firstPendingIndex ?? Infinity);
  resetPipeline(record);
  record.nextIndex = Math.max(record.matchIndex + 1, Math.min(record.nextIndex, oldest));
}

function fromOf(record: FollowerRecord, callId: CallId): number | undefined {
  return record.pendingData.find((request) => request.callId === callId)?.from;
}

/** The stream of an appender ended (spec: consensus 3.8.2). */
export function onAppendStreamEnded(
  s: CoreState,
  peerId: RaftPeerId,
  epoch: number,
  failed: { readonly callId: CallId; readonly isHeartbeat: boolean } | undefined,
  clean: boolean,
): void {
  const record = recordOf(s, peerId, epoch);
  if (record === undefined) return;
  const oldest = failed?.isHeartbeat === false ? fromOf(record, failed.callId) : undefined;
  if (clean) {
    record.errors = 0;
    resetPipeline(record);
    record.nextIndex = nextAfterError(record.nextIndex, record.matchIndex + 1, record.matchIndex);
  } else {
    countError(s, record);
    // Whichever of the requests the peer named: everything from the oldest on is lost.
    rewind(record, oldest);
  }
  repeatConfirmation(s, record);
  s.wake(record);
}
