import { type RaftConfiguration, sameConfiguration } from '../protocol/configuration.js';
import type { RaftPeerId } from '../protocol/ids.js';
import type { TermIndex } from '../protocol/term-index.js';
import { onDurable } from './follow.js';
import type { FollowerRecord } from './progress.js';
import { refuseTruncated } from './reply-order.js';
import { checkStaging } from './staging.js';
import type { CoreState } from './state.js';
import { isPlausibleTerm } from './term-limit.js';
import type { InstallTicket, SnapshotReplyReceived } from './types.js';

/**
 * A leader sends a piece of a snapshot, or announces one (spec: consensus 5.3 steps 2 and 3). The
 * election timer does not fire until the ticket is given back.
 */
export function beginInstall(
  s: CoreState,
  leaderId: RaftPeerId,
  leaderTerm: number,
): InstallTicket {
  const { term } = s;
  const refused: InstallTicket = { accepted: false, term, timer: undefined };
  if (!s.started || s.lifeCycle === 'closed' || leaderId === s.selfId) return refused;
  if (!isPlausibleTerm(s, leaderTerm) || leaderTerm < term) return refused;
  const isOther = s.leaderId !== undefined && s.leaderId !== leaderId;
  if (leaderTerm === term && isOther) return refused;
  s.roles.stepToFollower(leaderTerm);
  s.setLeader(leaderId);
  s.timer?.begin(s.nowMs);
  return { accepted: true, term, timer: s.timer };
}

export function endInstall(s: CoreState, ticket: InstallTicket): void {
  ticket.timer?.end(s.nowMs);
}

/**
 * From where on the log contradicts a snapshot of the leader: that part is not committed, and goes
 * before the snapshot takes its place, so that a crash in between leaves a log that fits either
 * (spec: consensus 5.5). Undefined when nothing contradicts it.
 */
export function prepareInstall(s: CoreState, snapshot: TermIndex): number | undefined {
  const { index, term } = snapshot;
  if (index > s.log.lastIndex || index < s.log.startIndex || index <= s.settledIndex) {
    return undefined;
  }
  if (s.log.termAt(index) === term) return undefined;
  s.log.truncate(index);
  s.generation++;
  s.flushIndex = Math.min(s.flushIndex, index - 1);
  s.metadataEntries.truncate(index);
  refuseTruncated(s, index);
  if (s.configurations.removeFrom(index)) s.roles.configurationChanged();
  return index;
}

/** The state machine has loaded a snapshot of the leader (spec: consensus 5.5). */
export function snapshotInstalled(s: CoreState, snapshot: TermIndex): void {
  const { index } = snapshot;
  if (s.log.setSnapshot(snapshot)) {
    // The log starts anew behind it: what was queued for it before is history.
    s.generation++;
    s.flushIndex = index;
  } else {
    s.flushIndex = Math.max(s.flushIndex, index);
  }
  s.metadataEntries.takeLastOther(s.commitIndex, index);
  s.commitIndex = Math.max(s.commitIndex, index);
  s.provenCommit = Math.max(s.provenCommit, index);
  s.appliedIndex = Math.max(s.appliedIndex, index);
  s.configurations.settle(s.commitIndex);
  onDurable(s);
}

/** The configuration that comes with an accepted snapshot request (spec: H-10). */
export function adoptConfiguration(s: CoreState, configuration: RaftConfiguration): boolean {
  if (sameConfiguration(configuration, s.configurations.current)) return false;
  if (!s.configurations.adopt(configuration)) return false;
  s.roles.configurationChanged();
  return true;
}

function recordOf(s: CoreState, peerId: RaftPeerId, epoch: number): FollowerRecord | undefined {
  const record = s.leader?.records.get(peerId);
  return record?.epoch === epoch ? record : undefined;
}

/** A follower answered a piece or an announcement (spec: consensus 5.4, 3.8). */
export function onSnapshotReply(
  s: CoreState,
  peerId: RaftPeerId,
  epoch: number,
  reply: SnapshotReplyReceived,
): void {
  const record = recordOf(s, peerId, epoch);
  if (record === undefined) return;
  record.lastResponseMs = s.nowMs;
  if (reply.kind === 'notLeader') {
    if (record.caughtUp && reply.term > s.term && isPlausibleTerm(s, reply.term)) {
      s.roles.stepToFollower(reply.term, { reason: 'HIGHER_TERM' });
    }
    return;
  }
  if (reply.kind === 'pending') return;
  record.errors = 0;
  record.snapshotAttempted = true;
  if (!record.caughtUp) checkStaging(s);
}

/** A follower has the snapshot at `index` (spec: consensus 3.1, 5.4). */
export function onFollowerInstalled(
  s: CoreState,
  peerId: RaftPeerId,
  epoch: number,
  index: number,
): void {
  const record = recordOf(s, peerId, epoch);
  // What this leader has not committed can't be in a snapshot.
  if (record === undefined || index > s.commitIndex) return;
  record.snapshotAttempted = true;
  record.errors = 0;
  record.snapshotIndex = index;
  if (index > record.commitIndex) record.commitIndex = index;
  if (index > record.matchIndex) record.matched(index);
  record.resumeAt(record.matchIndex + 1);
  s.wake(record);
  if (!record.caughtUp) checkStaging(s);
}
