import { assert } from '../common/errors.js';
import { RaftPeerRole } from '../protocol/peer.js';
import { endElection } from './election.js';
import { endOffice } from './lead.js';
import { failAppends } from './reply-order.js';
import { startTimer } from './roles.js';
import type { CoreState } from './state.js';
import { failTransfer } from './transfer-state.js';

/**
 * Takes the role that the configuration gives (spec: consensus 1.3). A voter of either side of a
 * joint configuration runs at once: were it to wait for a leader, voters restarted together could
 * never elect one. A server that is no member waits until a leader speaks to it.
 */
export function startEngine(s: CoreState): void {
  assert(!s.started && s.lifeCycle !== 'closed', 'the engine was started before');
  s.started = true;
  s.noLeaderSinceMs = s.nowMs;
  const conf = s.configurations.current;
  s.emit({ kind: 'configurationInForce', configuration: conf });
  const { configurations, selfId, commitIndex } = s;
  s.setRole(configurations.roleOf(selfId, commitIndex, s.role), undefined);
  if (!configurations.isMember(selfId, commitIndex)) return;
  s.lifeCycle = 'running';
  startTimer(s);
  s.emit({ kind: 'becameRunning' });
}

/** Gives up every role and answers what waits (spec: consensus 1.4). */
export function closeEngine(s: CoreState): void {
  if (s.lifeCycle === 'closed') return;
  s.timer = undefined;
  endElection(s);
  if (s.role === RaftPeerRole.LEADER) {
    endOffice(s);
    s.setLeader(undefined);
    s.setRole(RaftPeerRole.FOLLOWER, 'FORCE');
  }
  s.lifeCycle = 'closed';
  failAppends(s, { kind: 'notRunning' });
  failTransfer(s, 'this server closes');
  for (const command of s.takeHeldCommands()) {
    if (command.kind === 'replyVote') s.emit({ kind: 'failVote', requestId: command.requestId });
    if (command.kind === 'replyAppend') {
      const { requestId } = command;
      s.emit({ kind: 'failAppend', requestId, failure: { kind: 'notRunning' } });
    }
  }
}

/**
 * Nothing can be promised any more: the office is given up, and no other is sought (spec: W-3,
 * RATIS-761).
 */
export function failLog(s: CoreState, message: string): void {
  if (s.logFailure !== undefined) return;
  s.logFailure = message;
  if (s.role !== RaftPeerRole.LISTENER && s.started) s.roles.stepToFollower(s.term);
  s.timer = undefined;
  failAppends(s, { kind: 'logFailed', message });
}
