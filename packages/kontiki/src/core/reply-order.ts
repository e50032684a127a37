import { AppendResult } from '../proto/wire/types.js';
import type { TermIndex } from '../protocol/term-index.js';
import type { FollowerTimer } from './follower-timer.js';
import type { HeldAppend } from './held-appends.js';
import type { CoreState } from './state.js';
import type { AppendFailure, AppendReply } from './types.js';

/** A data request whose reply is known; it leaves after those that came before it (RATIS-192). */
export function decide(s: CoreState, requestId: number, reply: AppendReply): void {
  if (s.appends.held.length === 0) {
    s.emitWhenPersisted({ kind: 'replyAppend', requestId, reply });
    return;
  }
  s.appends.held.push({
    requestId,
    decided: reply,
    last: undefined,
    term: reply.term,
    timer: undefined,
  });
}

/** A data request whose entries are in the log, and answered when they are durable. */
export function hold(
  s: CoreState,
  requestId: number,
  last: TermIndex,
  term: number,
  timer: FollowerTimer | undefined,
): void {
  s.appends.held.push({ requestId, decided: undefined, last, term, timer });
}

/**
 * Sends the replies that wait for nothing any more: entries and metadata are durable (spec:
 * consensus 3.5, A-2, I-3). They stay here until then, because a newer leader may still remove the
 * entries that they promise.
 */
export function sendReady(s: CoreState): void {
  const { held } = s.appends;
  if (s.pendingMetadata !== undefined) return;
  let sent = 0;
  for (; sent < held.length; sent++) {
    const item = held[sent] as HeldAppend;
    if (item.last !== undefined && item.last.index > s.flushIndex) break;
    item.timer?.end(s.nowMs);
    const reply = item.decided ?? successOf(s, item);
    s.emit({ kind: 'replyAppend', requestId: item.requestId, reply });
  }
  if (sent > 0) held.splice(0, sent);
}

function successOf(s: CoreState, item: HeldAppend): AppendReply {
  const index = item.last?.index ?? -1;
  return {
    result: AppendResult.SUCCESS,
    term: item.term,
    nextIndex: index + 1,
    matchIndex: index,
    followerCommit: s.commitIndex,
    isHeartbeat: false,
  };
}

/**
 * A newer leader had entries removed that older requests wait for: their sender leads no longer.
 */
export function refuseTruncated(s: CoreState, from: number): void {
  const { held } = s.appends;
  for (let i = 0; i < held.length; i++) {
    const item = held[i] as HeldAppend;
    if (item.last === undefined || item.last.index < from) continue;
    item.timer?.end(s.nowMs);
    const decided: AppendReply = {
      result: AppendResult.NOT_LEADER,
      term: s.term,
      nextIndex: s.nextIndex,
      matchIndex: -1,
      followerCommit: s.commitIndex,
      isHeartbeat: false,
    };
    held[i] = { ...item, decided, last: undefined, timer: undefined };
  }
}

/** Answers everything that waits with a failure (spec: H-9). */
export function failAppends(s: CoreState, failure: AppendFailure): void {
  const { held, queued } = s.appends;
  for (const { requestId, timer } of [...held, ...queued]) {
    timer?.end(s.nowMs);
    s.emit({ kind: 'failAppend', requestId, failure });
  }
  held.length = 0;
  queued.length = 0;
}
