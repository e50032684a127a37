import { EntryKind } from '../proto/wire/types.js';
import {
  allPeers,
  createConfiguration,
  type RaftConfiguration,
} from '../protocol/configuration.js';
import { type RaftPeer, RaftPeerRole } from '../protocol/peer.js';
import { countError } from './back-off.js';
import { failChange } from './change.js';
import { LeaderState } from './leader-state.js';
import { FollowerRecord } from './progress.js';
import { hasMajority, isListener } from './quorum.js';
import { expireReads, failReads } from './read-index.js';
import type { CoreState } from './state.js';

/** Takes office: appenders, and the start-up entry (spec: consensus 2.6, L-1). */
export function beginOffice(s: CoreState): void {
  s.setRole(RaftPeerRole.LEADER, undefined);
  s.leader = new LeaderState({
    selfId: s.selfId,
    term: s.term,
    startIndex: s.log.nextIndex,
    startedMs: s.nowMs,
    tickAtMs: s.nowMs + tickIntervalMs(s),
  });
  s.setLeader(s.selfId);
  // A joint configuration is inherited whole: the change is not decided yet (spec: H-1).
  const { cur, old } = s.configurations.current;
  appendConfiguration(s, createConfiguration(cur, old, s.log.nextIndex));
}

/** Gives up everything that belongs to the office (spec: consensus 3.12). */
export function endOffice(s: CoreState): void {
  const { leader } = s;
  if (leader === undefined) return;
  for (const record of leader.records.values()) stopAppender(s, record);
  failReads(s, leader);
  failChange(s, { kind: 'notLeader' });
  s.leader = undefined;
}

/** Appends a configuration of the leader's own; it is in force at once (spec: C-1). */
export function appendConfiguration(s: CoreState, configuration: RaftConfiguration): void {
  const { index } = configuration;
  s.log.append(s.term, index);
  s.configurations.add(configuration);
  const header = { term: s.term, index, kind: EntryKind.CONFIGURATION, configuration };
  s.emit({ kind: 'appendOwn', header, generation: s.generation });
  s.roles.configurationChanged();
  followConfiguration(s, index);
}

/** Appends a metadata entry that records what is committed (spec: consensus 3.10 step 5). */
export function appendMetadata(s: CoreState): void {
  const { leader } = s;
  if (leader === undefined) return;
  leader.metadataDueMs = Number.POSITIVE_INFINITY;
  if (leader.metadataCommitIndex <= s.lastMetadataCommitIndex) return;
  s.lastMetadataCommitIndex = leader.metadataCommitIndex;
  const index = s.log.nextIndex;
  s.log.append(s.term, index);
  s.metadataEntries.add(index);
  const metadataCommitIndex = leader.metadataCommitIndex;
  const header = { term: s.term, index, kind: EntryKind.METADATA, metadataCommitIndex };
  s.emit({ kind: 'appendOwn', header, generation: s.generation });
  s.wakeAll();
}

/**
 * Appenders for the members of the configuration, and for nobody else (spec: consensus 2.6, 4.4).
 */
function followConfiguration(s: CoreState, nextIndex: number): void {
  const { leader } = s;
  if (leader === undefined) return;
  const conf = s.configurations.current;
  const members = allPeers(conf).filter((peer) => peer.id !== s.selfId);
  for (const [id, record] of leader.records) {
    if (members.some((peer) => peer.id === id)) continue;
    stopAppender(s, record);
    leader.records.delete(id);
  }
  for (const peer of members) {
    const record = leader.records.get(peer.id);
    if (record === undefined) {
      startAppender(s, leader, { peer, nextIndex, matchIndex: -1, caughtUp: true });
    } else if (record.address !== peer.address) {
      // It is reached elsewhere now; what it holds it holds.
      const { matchIndex, caughtUp } = record;
      startAppender(s, leader, { peer, nextIndex: matchIndex + 1, matchIndex, caughtUp });
    }
  }
  leader.useVoters(conf);
  s.wakeAll();
}

/** A record and an appender of its own for a peer; they replace those that it had. */
export function startAppender(
  s: CoreState,
  leader: LeaderState,
  start: {
    readonly peer: RaftPeer;
    readonly nextIndex: number;
    readonly matchIndex: number;
    readonly caughtUp: boolean;
  },
): void {
  const { peer, ...position } = start;
  const record = new FollowerRecord({
    ...position,
    peerId: peer.id,
    address: peer.address,
    epoch: s.nextEpoch++,
    longAgoMs: s.nowMs - s.config.rpcTimeoutMaxMs,
  });
  leader.records.set(peer.id, record);
  s.emit({ kind: 'startAppender', peerId: peer.id, epoch: record.epoch, peer });
}

export function stopAppender(s: CoreState, record: FollowerRecord): void {
  record.wakePending = false;
  s.emit({ kind: 'stopAppender', peerId: record.peerId, epoch: record.epoch });
}

function tickIntervalMs(s: CoreState): number {
  return Math.max(1, Math.floor(s.config.rpcTimeoutMinMs / 2));
}

/**
 * True while a majority answers; else the leader steps down (spec: consensus 2.7). Time in which
 * this process itself stood still does not count against the followers: they were not asked.
 */
export function checkLeadership(s: CoreState): boolean {
  const { leader, nowMs } = s;
  if (leader === undefined) return false;
  const maxMs = s.config.rpcTimeoutMaxMs;
  if (nowMs - leader.startedMs < maxMs) return true;
  const graceMs = nowMs - leader.stallEndMs <= maxMs ? leader.stallMs : 0;
  const active = hasMajority(s.configurations.current, (id) => {
    if (id === s.selfId) return true;
    const record = leader.records.get(id);
    return record !== undefined && nowMs - record.lastResponseMs <= maxMs + graceMs;
  });
  if (!active) s.roles.stepToFollower(s.term, { reason: 'LOST_MAJORITY_HEARTBEATS' });
  return active;
}

/**
 * The leader's regular look at time-outs, on a timer that traffic does not disturb (spec: H-5).
 * True when it was due, and the office is kept.
 */
export function onLeaderTick(s: CoreState): boolean {
  const { leader, nowMs } = s;
  if (leader === undefined) return false;
  if (nowMs >= leader.leaveAtMs) {
    leave(s, leader);
    return false;
  }
  if (nowMs >= leader.metadataDueMs) appendMetadata(s);
  if (nowMs < leader.tickAtMs) return false;
  noteStall(s, leader, nowMs - leader.tickAtMs);
  leader.tickAtMs = nowMs + tickIntervalMs(s);
  expireReads(s, leader);
  for (const record of leader.records.values()) {
    if (record.expirePending(nowMs - s.config.rpcRequestTimeoutMs)) {
      countError(s, record);
      // Nobody answers for them any more: they are sent again, which is harmless where they
      // arrived.
      if (record.pendingData.length === 0) record.rewind();
      s.wake(record);
    }
    reportSlowness(s, record);
  }
  return checkLeadership(s);
}

/** A leader that only listens from now on steps down; one that was removed closes (spec: H-6). */
function leave(s: CoreState, leader: LeaderState): void {
  if (isListener(s.configurations.current, s.selfId)) {
    s.roles.stepToFollower(s.term, { reason: 'FORCE' });
    return;
  }
  leader.leaveAtMs = Number.POSITIVE_INFINITY;
  s.emit({ kind: 'closeDivision', reason: `${s.selfId} was removed from the group` });
}

/** When the leader wants to be called. */
export function leaderDeadlineMs(leader: LeaderState): number {
  return Math.min(leader.tickAtMs, leader.metadataDueMs, leader.leaveAtMs);
}

function noteStall(s: CoreState, leader: LeaderState, lateMs: number): void {
  if (lateMs <= s.config.rpcTimeoutMinMs / 4) return;
  leader.stallMs = lateMs;
  leader.stallEndMs = s.nowMs;
}

function reportSlowness(s: CoreState, record: FollowerRecord): void {
  const elapsedMs = s.nowMs - record.lastResponseMs;
  if (elapsedMs <= s.config.rpcSlownessTimeoutMs) return;
  if (s.nowMs - record.slowReportedMs < s.config.rpcTimeoutMaxMs) return;
  record.slowReportedMs = s.nowMs;
  s.emit({ kind: 'followerSlow', peerId: record.peerId, elapsedMs });
}
