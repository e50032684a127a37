import { assert } from '../common/errors.js';
import { RaftPeerRole } from '../protocol/peer.js';
import { endElection, startElection } from './election.js';
import { FollowerTimer } from './follower-timer.js';
import { beginOffice, endOffice } from './lead.js';
import type { CoreState, RoleChanges, StepOptions } from './state.js';
import type { StepDownReason } from './types.js';

/**
 * Starts a new timer for the present role; none while the server waits for its first leader (spec:
 * consensus 1.3, 2.1).
 */
export function startTimer(s: CoreState, reason?: StepDownReason): void {
  if (s.lifeCycle !== 'running' || s.logFailure !== undefined) {
    s.timer = undefined;
    return;
  }
  const lost = reason === 'LOST_MAJORITY_HEARTBEATS';
  const graceUntilMs = lost ? s.nowMs + s.config.stepDownWaitTimeMs : Number.NEGATIVE_INFINITY;
  const timeoutMs = s.role === RaftPeerRole.LISTENER ? Number.POSITIVE_INFINITY : s.drawTimeoutMs();
  s.timer = new FollowerTimer(s.nowMs, timeoutMs, graceUntilMs);
}

function stepToFollower(s: CoreState, newTerm: number, options: StepOptions): void {
  assert(newTerm >= s.term, `step to term ${newTerm} from ${s.term}`);
  const { LEADER, CANDIDATE, FOLLOWER } = RaftPeerRole;
  const before = s.role;
  // The old role's machinery stops before the term changes (RATIS-2154, spec: I-25).
  if (before === LEADER) endOffice(s);
  if (before === CANDIDATE) endElection(s);
  s.raiseTerm(newTerm);
  if (before === LEADER) s.setLeader(undefined);
  const leaves = before === LEADER || before === CANDIDATE;
  if (!leaves && !(before === FOLLOWER && options.freshTimer)) return;
  s.firstElection = false;
  const role = s.configurations.roleOf(s.selfId, s.commitIndex, before);
  const reason = before === LEADER ? (options.reason ?? 'HIGHER_TERM') : undefined;
  if (role !== before) s.setRole(role, reason);
  startTimer(s, reason);
}

function becomeCandidate(s: CoreState, forced: boolean): void {
  assert(s.role === RaftPeerRole.FOLLOWER, 'only a follower becomes candidate');
  s.timer = undefined;
  s.setRole(RaftPeerRole.CANDIDATE, undefined);
  const leaderless = s.leaderId === undefined;
  if (leaderless && s.nowMs - s.noLeaderSinceMs > s.config.noLeaderTimeoutMs) {
    s.emit({ kind: 'extendedNoLeader' });
  }
  startElection(s, forced);
}

function becomeLeader(s: CoreState): void {
  assert(s.role === RaftPeerRole.CANDIDATE, 'only a candidate becomes leader');
  assert(s.votedFor === s.selfId && s.pendingMetadata === undefined, 'own vote is not durable');
  endElection(s);
  beginOffice(s);
}

function configurationChanged(s: CoreState): void {
  const { current } = s.configurations;
  s.emit({ kind: 'configurationInForce', configuration: current });
  followConfiguration(s);
}

function followConfiguration(s: CoreState): void {
  if (s.role === RaftPeerRole.LEADER || !s.started || s.lifeCycle === 'closed') return;
  const role = s.configurations.roleOf(s.selfId, s.commitIndex, s.role);
  const isListener = s.role === RaftPeerRole.LISTENER;
  if ((role === RaftPeerRole.LISTENER) === isListener) return;
  if (s.role === RaftPeerRole.CANDIDATE) endElection(s);
  s.setRole(role, undefined);
  startTimer(s);
}

export function createRoleChanges(s: CoreState): RoleChanges {
  return {
    stepToFollower: (newTerm, options = {}) => stepToFollower(s, newTerm, options),
    becomeCandidate: (forced) => becomeCandidate(s, forced),
    becomeLeader: () => becomeLeader(s),
    followConfiguration: () => followConfiguration(s),
    configurationChanged: () => configurationChanged(s),
  };
}
