import { RaftPeerRole } from '../protocol/peer.js';
import { isCurrentVoter } from './quorum.js';
import type { CoreState } from './state.js';
import type { ElectionInvitation } from './types.js';
import { compareLastEntries } from './vote.js';

/**
 * The leader asks this server to take over: it campaigns at once, without a pre-vote (spec:
 * consensus 2.9).
 */
export function onStartLeaderElection(
  s: CoreState,
  requestId: number,
  invitation: ElectionInvitation,
): void {
  if (s.lifeCycle !== 'running') {
    s.emit({ kind: 'failStartLeaderElection', requestId });
    return;
  }
  const accepted = accepts(s, invitation);
  // The term is raised within this call, so that the old leader's messages are late already
  // (RATIS-1796).
  if (accepted) s.roles.becomeCandidate(true);
  s.emit({ kind: 'replyStartLeaderElection', requestId, accepted });
}

function accepts(s: CoreState, { leaderId, leaderLastEntry }: ElectionInvitation): boolean {
  if (leaderLastEntry === undefined || s.electionsPaused || s.logFailure !== undefined)
    return false;
  const { term } = leaderLastEntry;
  if (term < s.term) return false;
  if (term === s.term && s.leaderId !== undefined && s.leaderId !== leaderId) return false;
  if (s.role !== RaftPeerRole.FOLLOWER) return false;
  if (!isCurrentVoter(s.configurations.current, s.selfId)) return false;
  return compareLastEntries(s.log.lastEntry, leaderLastEntry) >= 0;
}

/**
 * While elections are paused a follower stays one, and a candidate's present round is its last
 * (spec: consensus 2.9, H-12).
 */
export function pauseElections(s: CoreState, paused: boolean): void {
  if (s.electionsPaused === paused) return;
  s.electionsPaused = paused;
  s.timer?.rearm(s.nowMs, s.drawTimeoutMs());
}
