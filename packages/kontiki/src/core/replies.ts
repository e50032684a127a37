import { AppendResult } from '../proto/wire/types.js';
import type { RaftPeerId } from '../protocol/ids.js';
import { countError } from './back-off.js';
import { updateCommit } from './commit.js';
import {
  type FollowerRecord,
  nextAfterError,
  nextAfterInconsistency,
  type PendingAppend,
} from './progress.js';
import { confirmReads, repeatConfirmation } from './read-index.js';
import { checkStaging } from './staging.js';
import type { CoreState } from './state.js';
import { isPlausibleTerm } from './term-limit.js';
import { tryHandOver, tryTransfer } from './transfer.js';
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
    if (onNotLeader(s, record, reply)) return;
  } else if (reply.result === AppendResult.INCONSISTENCY) {
    onInconsistency(s, record, reply, request);
  } else {
    return;
  }
  // A reply that refuses this leader confirms nothing.
  const { leader } = s;
  if (leader === undefined) return;
  if (!record.caughtUp) checkStaging(s);
  else if (s.transfer?.target === peerId) tryTransfer(s);
  tryHandOver(s, leader);
  if (request !== undefined && reply.result !== AppendResult.NOT_LEADER) {
    confirmReads(s, leader, record, request.readSequence);
  }
  s.wake(record);
}

/**
 * A heartbeat's reply proves no more than its request's previous entry, so it raises nothing (spec:
 * I-11, RATIS-2605).
 */
function onSuccess(s: CoreState, record: FollowerRecord, reply: AppendReplyReceived): void {
  record.errors = 0;
  if (reply.followerCommit > record.commitIndex) record.commitIndex = reply.followerCommit;
  if (reply.isHeartbeat) return;
  record.streamProven = true;
  const { matchIndex } = reply;
  // More than was sent by this appender cannot be promised.
  if (matchIndex <= record.matchIndex || matchIndex > record.sentIndex) return;
  record.matched(matchIndex);
  if (record.caughtUp) updateCommit(s);
}

/**
 * True if the office was lost. Terms of peers that are only being brought up do not count (spec:
 * consensus 2.7, 3.8).
 */
function onNotLeader(s: CoreState, record: FollowerRecord, reply: AppendReplyReceived): boolean {
  if (record.caughtUp && reply.term > s.term && isPlausibleTerm(s, reply.term)) {
    s.roles.stepToFollower(reply.term, { reason: 'HIGHER_TERM' });
    return true;
  }
  countError(s, record);
  record.rewind();
  return false;
}

function onInconsistency(
  s: CoreState,
  record: FollowerRecord,
  reply: AppendReplyReceived,
  request: PendingAppend | undefined,
): void {
  // Requests that were in flight behind an inconsistent one fail too; the first of them has said it
  // all.
  if (request === undefined) return;
  const failedFrom = reply.isHeartbeat ? -1 : request.from;
  const before = Math.max(record.nextIndex, request.from);
  record.pendingData.length = 0;
  record.streamProven = false;
  const next = nextAfterInconsistency(failedFrom, reply.nextIndex, record.matchIndex);
  record.resumeAt(Math.min(Math.max(next, 0), s.log.nextIndex));
  // A step back is progress, and a log can be long: only standing still earns a pause.
  if (record.nextIndex >= before) countError(s, record);
}

/**
 * The stream of an appender ended: everything in flight is lost, whichever request the peer named,
 * and so is the answer to requests that were given up before. A clean end starts again from what is
 * matched (spec: consensus 3.8.2).
 */
export function onAppendStreamEnded(
  s: CoreState,
  peerId: RaftPeerId,
  epoch: number,
  clean: boolean,
): void {
  const record = recordOf(s, peerId, epoch);
  if (record === undefined) return;
  const { nextIndex, matchIndex } = record;
  record.rewind();
  if (clean) {
    record.errors = 0;
    record.resumeAt(nextAfterError(nextIndex, matchIndex + 1, matchIndex));
  } else {
    countError(s, record);
  }
  repeatConfirmation(s, record);
  s.wake(record);
}
