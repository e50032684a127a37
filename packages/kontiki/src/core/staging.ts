import { createConfiguration, type PeerSet } from '../protocol/configuration.js';
import type { RaftPeer } from '../protocol/peer.js';
import { failChange } from './change.js';
import { appendConfiguration, startAppender, stopAppender } from './lead.js';
import type { LeaderState } from './leader-state.js';
import type { FollowerRecord } from './progress.js';
import type { CoreState } from './state.js';

/**
 * New peers are brought up before they count for anything, so that a dead or empty one cannot hold
 * up the group (spec: consensus 4.2).
 */
export function beginStaging(
  s: CoreState,
  leader: LeaderState,
  members: PeerSet,
  added: readonly RaftPeer[],
): void {
  // Staging is set before the appenders start (RATIS-2283).
  if (leader.change !== undefined) leader.change.staging = members;
  for (const peer of added) {
    startAppender(s, leader, { peer, nextIndex: 0, matchIndex: -1, caughtUp: false });
  }
  s.wakeAll();
}

/** Both sides decide from now on (spec: consensus 4.3). */
export function enterJoint(s: CoreState, members: PeerSet): void {
  const { cur } = s.configurations.current;
  appendConfiguration(s, createConfiguration(members, cur, s.log.nextIndex));
}

type Progress = 'caughtUp' | 'progressing' | 'noProgress';

/**
 * Looks after the peers that are brought up. Called for each of their replies, and on the leader's
 * own timer, which no traffic can hold up (spec: consensus 4.2, H-5).
 */
export function checkStaging(s: CoreState): void {
  const { leader } = s;
  const members = leader?.change?.staging;
  if (leader?.change === undefined || members === undefined) return;
  const staged = [...leader.records.values()].filter((record) => !record.caughtUp);
  const states = staged.map((record) => progressOf(s, record));
  const dead = staged.filter((_, i) => states[i] === 'noProgress');
  if (dead.length > 0) {
    giveUp(s, leader, staged, dead);
  } else if (!states.includes('progressing')) {
    leader.change.staging = undefined;
    // Listeners, too: they are members from now on (spec: H-6).
    for (const record of staged) record.caughtUp = true;
    enterJoint(s, members);
  }
}

function progressOf(s: CoreState, record: FollowerRecord): Progress {
  const silentMs = s.nowMs - record.lastResponseMs;
  if (silentMs > s.config.stagingTimeoutMs) return 'noProgress';
  const near = record.matchIndex + s.config.stagingCatchupGap > s.commitIndex;
  // The current configuration entry is among what it must hold (RATIS-2274).
  const knows = record.matchIndex >= s.configurations.current.index;
  const alive = silentMs < s.config.rpcTimeoutMaxMs;
  return near && knows && alive && record.snapshotAttempted ? 'caughtUp' : 'progressing';
}

function giveUp(
  s: CoreState,
  leader: LeaderState,
  staged: readonly FollowerRecord[],
  dead: readonly FollowerRecord[],
): void {
  for (const record of staged) {
    stopAppender(s, record);
    leader.records.delete(record.peerId);
  }
  const names = dead.map((record) => record.peerId).join(', ');
  const message = `${s.selfId}: new peers do not answer, or make no progress: ${names}`;
  failChange(s, { kind: 'timeout', message });
}
