import { AppendResult, EntryKind } from '../proto/wire/types.js';
import { malformation } from './append-check.js';
import type { FollowerTimer } from './follower-timer.js';
import { clampCommit } from './progress.js';
import { decide, hold, refuseTruncated, sendReady } from './reply-order.js';
import { startTimer } from './roles.js';
import type { CoreState } from './state.js';
import type { AppendReply, AppendRequest, EntryHeader } from './types.js';

/** A leader's request (spec: consensus 3.5). */
export function onAppendRequest(s: CoreState, requestId: number, request: AppendRequest): void {
  if (!s.started || s.lifeCycle === 'closed') {
    s.emit({ kind: 'failAppend', requestId, failure: { kind: 'notRunning' } });
    return;
  }
  if (s.logFailure !== undefined) {
    const failure = { kind: 'logFailed', message: s.logFailure } as const;
    s.emit({ kind: 'failAppend', requestId, failure });
    return;
  }
  const fault = malformation(s, request);
  if (fault !== undefined) {
    refuse(s, requestId, fault);
    return;
  }
  const term = s.term;
  if (!recognises(s, request)) {
    answer(s, requestId, request, term, AppendResult.NOT_LEADER, s.nextIndex);
    return;
  }
  follow(s, request);
  const { timer } = s;
  timer?.begin(s.nowMs);
  const nextIndex = inconsistency(s, request);
  if (nextIndex !== undefined) {
    answer(s, requestId, request, term, AppendResult.INCONSISTENCY, nextIndex);
  } else if (request.entries.length === 0) {
    prove(s, request);
    answer(s, requestId, request, term, AppendResult.SUCCESS, s.nextIndex);
  } else if (s.config.composeEnabled) {
    compose(s, requestId, request, term, timer);
    return;
  } else {
    store(s, requestId, request, term, timer);
    return;
  }
  timer?.end(s.nowMs);
}

/** Log or metadata are durable further: replies that waited, and the next composed batch. */
export function onDurable(s: CoreState): void {
  sendReady(s);
  while (s.appends.held.length === 0) {
    const next = s.appends.queued.shift();
    if (next === undefined) return;
    store(s, next.requestId, next.request, next.term, next.timer);
  }
}

function recognises(s: CoreState, request: AppendRequest): boolean {
  if (request.leaderTerm !== s.term) return request.leaderTerm > s.term;
  return s.leaderId === undefined || s.leaderId === request.leaderId;
}

function follow(s: CoreState, request: AppendRequest): void {
  s.roles.stepToFollower(request.leaderTerm);
  s.setLeader(request.leaderId);
  s.leaderHeardMs = s.nowMs;
  s.isStaged = request.initializing || !s.configurations.isMember(s.selfId, s.commitIndex);
  beginToRun(s);
}

/**
 * A new server runs when its group counts on it (spec: consensus 1.3): not before it holds the
 * entry that names it, or it would take itself for one that was removed if the leader died now.
 */
function beginToRun(s: CoreState): void {
  if (s.lifeCycle !== 'starting' || s.isStaged) return;
  s.lifeCycle = 'running';
  startTimer(s);
  s.emit({ kind: 'becameRunning' });
}

/**
 * The next index to answer, when the request does not fit the log (spec: consensus 3.5 checks 4 and
 * 5).
 */
function inconsistency(s: CoreState, request: AppendRequest): number | undefined {
  const first = request.entries[0];
  const settled = s.settledIndex;
  if (first !== undefined && s.installing) return Math.min(s.nextIndex, first.index);
  if (first !== undefined && first.index <= settled) return settled + 1;
  const { previous } = request;
  if (previous === undefined || previous.term === 0) return undefined;
  if (s.log.contains(previous) || s.appends.isQueued(previous)) return undefined;
  return Math.min(s.nextIndex, previous.index);
}

/** What the request proves to be shared and committed (spec: consensus 3.6, I-12). */
function prove(s: CoreState, request: AppendRequest): void {
  const previous = request.previous?.term === 0 ? undefined : request.previous;
  const last = request.entries.at(-1);
  const proven =
    last === undefined
      ? clampCommit(request.leaderCommit, previous?.index, 0)
      : Math.min(request.leaderCommit, last.index);
  if (proven > s.provenCommit) s.provenCommit = proven;
  s.followCommit();
}

function answer(
  s: CoreState,
  requestId: number,
  request: AppendRequest,
  term: number,
  result: AppendReply['result'],
  nextIndex: number,
): void {
  const isHeartbeat = request.entries.length === 0;
  const reply: AppendReply = {
    result,
    term,
    nextIndex,
    matchIndex: -1,
    followerCommit: s.commitIndex,
    isHeartbeat,
  };
  if (isHeartbeat) s.emitWhenPersisted({ kind: 'replyAppend', requestId, reply });
  else decide(s, requestId, reply);
}

function refuse(s: CoreState, requestId: number, message: string): void {
  s.emit({ kind: 'failAppend', requestId, failure: { kind: 'malformed', message } });
}

/**
 * One batch at a time: the next is handed to the log when the one before is durable (spec:
 * consensus 3.7, compose).
 */
function compose(
  s: CoreState,
  requestId: number,
  request: AppendRequest,
  term: number,
  timer: FollowerTimer | undefined,
): void {
  if (s.appends.held.length === 0) store(s, requestId, request, term, timer);
  else s.appends.queued.push({ requestId, request, term, timer });
}

/** Hands the entries to the log that it does not hold yet (spec: consensus 3.7). */
function store(
  s: CoreState,
  requestId: number,
  request: AppendRequest,
  term: number,
  timer: FollowerTimer | undefined,
): void {
  const { entries } = request;
  const first = entries[0] as EntryHeader;
  const last = entries[entries.length - 1] as EntryHeader;
  if (request.leaderTerm < s.term || first.index > s.log.nextIndex) {
    // A composed batch that waited while another leader came: its entries must not be promised any
    // more.
    const stale = request.leaderTerm < s.term;
    const result = stale ? AppendResult.NOT_LEADER : AppendResult.INCONSISTENCY;
    answer(s, requestId, request, s.term, result, s.nextIndex);
    timer?.end(s.nowMs);
    return;
  }
  const skip = knownEntries(s, entries);
  const next = entries[skip];
  const truncates = next !== undefined && next.index <= s.log.lastIndex;
  if (truncates && next.index <= s.settledIndex) {
    refuse(s, requestId, `entry ${next.index} contradicts what is committed`);
    timer?.end(s.nowMs);
    return;
  }
  const changed = truncates && truncate(s, next.index);
  if (next !== undefined) {
    const truncateFrom = truncates ? next.index : undefined;
    const { generation } = s;
    s.emit({ kind: 'appendEntries', requestId, skip, truncateFrom, generation });
  }
  const added = append(s, entries, skip);
  if (changed || added) s.roles.configurationChanged();
  if (added && !request.initializing && s.configurations.isMember(s.selfId, s.commitIndex)) {
    s.isStaged = false;
    beginToRun(s);
  }
  hold(s, requestId, { term: last.term, index: last.index }, term, timer);
  prove(s, request);
  sendReady(s);
}

/**
 * Number of leading entries that the log holds already; nothing behind them is cut for their sake.
 */
function knownEntries(s: CoreState, entries: readonly EntryHeader[]): number {
  let known = 0;
  for (const entry of entries) {
    if (entry.index > s.log.lastIndex || s.log.termAt(entry.index) !== entry.term) break;
    known++;
  }
  return known;
}

/** True if another configuration is in force now (spec: C-3, H-23). */
function truncate(s: CoreState, from: number): boolean {
  s.log.truncate(from);
  s.generation++;
  s.flushIndex = Math.min(s.flushIndex, from - 1);
  s.metadataEntries.truncate(from);
  refuseTruncated(s, from);
  return s.configurations.removeFrom(from);
}

/** True if there was a configuration among the entries (spec: C-2). */
function append(s: CoreState, entries: readonly EntryHeader[], skip: number): boolean {
  let changed = false;
  for (let i = skip; i < entries.length; i++) {
    const entry = entries[i] as EntryHeader;
    s.log.append(entry.term, entry.index);
    if (entry.kind === EntryKind.METADATA) {
      s.metadataEntries.add(entry.index);
      const recorded = entry.metadataCommitIndex ?? -1;
      if (recorded > s.lastMetadataCommitIndex) s.lastMetadataCommitIndex = recorded;
    } else if (entry.configuration !== undefined) {
      s.configurations.add({ ...entry.configuration, index: entry.index });
      changed = true;
    }
  }
  return changed;
}
