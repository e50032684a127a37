import type { LeaderState, VoterValue } from './leader-state.js';
import type { FollowerRecord } from './progress.js';
import { isSingleton, type Levels } from './quorum.js';
import type { CoreState } from './state.js';

const confirmedBy: VoterValue = (record, own) => (record === undefined ? own : record.readSequence);
const levels: Levels = { min: 0, majority: 0, max: 0 };

/**
 * A linearizable read at the leader (spec: consensus 7.4). The read index is at least the start-up
 * entry's, because only then everything that earlier leaders committed is below it; so a leader
 * that is not ready yet needs no case of its own.
 */
export function readIndex(s: CoreState, readId: number): void {
  const { leader } = s;
  if (leader === undefined) {
    s.emit({ kind: 'readFailed', readId, reason: 'notLeader' });
    return;
  }
  const index = Math.max(s.commitIndex, leader.startIndex);
  const conf = s.configurations.current;
  if (isSingleton(conf) && conf.cur.voters[0]?.id === s.selfId) {
    s.emit({ kind: 'readReady', readId, readIndex: index });
    return;
  }
  leader.reads.add(readId, index, s.nowMs + s.config.readTimeoutMs);
  for (const record of leader.records.values()) askForConfirmation(s, leader, record);
}

/**
 * A heartbeat that asks for confirmation, unless one that will do is on its way: then the next
 * follows its reply, so reads share rounds.
 */
function askForConfirmation(s: CoreState, leader: LeaderState, record: FollowerRecord): void {
  if (record.readSequence >= leader.reads.sequence || leader.reads.size === 0) return;
  if (record.heartbeatTriggered || record.pendingHeartbeats.length > 0) return;
  record.heartbeatTriggered = true;
  s.wake(record);
}

/** The follower answered a request that was sent after so many reads had been registered. */
export function confirmReads(
  s: CoreState,
  leader: LeaderState,
  record: FollowerRecord,
  sequence: number,
): void {
  if (sequence > record.readSequence) record.readSequence = sequence;
  if (leader.reads.size === 0) return;
  if (leader.levels(confirmedBy, leader.reads.sequence, levels)) {
    for (const read of leader.reads.takeConfirmed(levels.majority)) {
      s.emit({ kind: 'readReady', readId: read.readId, readIndex: read.readIndex });
    }
  }
  askForConfirmation(s, leader, record);
}

/** Requests in flight to this follower were lost: ask again. */
export function repeatConfirmation(s: CoreState, record: FollowerRecord): void {
  if (s.leader !== undefined) askForConfirmation(s, s.leader, record);
}

/** Reads that no majority confirmed in time (spec: H-18). */
export function expireReads(s: CoreState, leader: LeaderState): void {
  for (const { readId } of leader.reads.takeExpired(s.nowMs)) {
    s.emit({ kind: 'readFailed', readId, reason: 'timeout' });
  }
}

/** Leadership is lost (spec: consensus 3.12). */
export function failReads(s: CoreState, leader: LeaderState): void {
  for (const { readId } of leader.reads.takeAll()) {
    s.emit({ kind: 'readFailed', readId, reason: 'notLeader' });
  }
}
