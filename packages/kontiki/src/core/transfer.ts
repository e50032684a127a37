import type { RaftPeerId } from '../protocol/ids.js';
import { isChanging } from './change.js';
import type { LeaderState } from './leader-state.js';
import type { FollowerRecord } from './progress.js';
import { allVoters, isCurrentVoter, priorityOf } from './quorum.js';
import type { CoreState } from './state.js';
import { failTransfer, type Transfer } from './transfer-state.js';

/** `target` undefined: the leader steps down (spec: consensus 2.9). */
export function transferLeadership(
  s: CoreState,
  requestId: number,
  target: RaftPeerId | undefined,
  timeoutMs: number,
): void {
  const { leader } = s;
  if (leader === undefined || (!leader.ready && target !== undefined)) {
    const kind = leader === undefined ? 'notLeader' : 'notReady';
    s.emit({ kind: 'transferFailed', requestId, failure: { kind } });
    return;
  }
  if (target === undefined) {
    s.roles.stepToFollower(s.term, { reason: 'FORCE' });
    s.emit({ kind: 'transferDone', requestId });
    return;
  }
  if (target === s.selfId) {
    s.emit({ kind: 'transferDone', requestId });
    return;
  }
  const refusal = refusalOf(s, target);
  if (refusal !== undefined) {
    const message = `${s.selfId}: failed to transfer leadership to ${target}: ${refusal}`;
    s.emit({ kind: 'transferFailed', requestId, failure: { kind: 'refused', message } });
    return;
  }
  const deadlineMs = s.nowMs + (timeoutMs === 0 ? s.config.rpcRequestTimeoutMs : timeoutMs);
  if (s.transfer?.target === target) {
    s.transfer.requestIds.push(requestId);
    s.transfer.deadlineMs = Math.max(s.transfer.deadlineMs, deadlineMs);
  } else beginTransfer(s, target, deadlineMs, [requestId]);
}

function refusalOf(s: CoreState, target: RaftPeerId): string | undefined {
  const { transfer } = s;
  const conf = s.configurations.current;
  if (isChanging(s)) return 'a change of the configuration is in progress';
  if (!isCurrentVoter(conf, target)) return 'it is not a voter of the configuration';
  const priority = priorityOf(conf, target);
  if (conf.cur.voters.some((peer) => peer.priority > priority)) {
    return 'it does not have the highest priority';
  }
  if (transfer === undefined || transfer.target === target) return undefined;
  return `a transfer to ${transfer.target} is in progress`;
}

function beginTransfer(
  s: CoreState,
  target: RaftPeerId,
  deadlineMs: number,
  requestIds: number[],
): void {
  s.transfer = { id: s.nextTransferId++, target, requestIds, deadlineMs, isAsked: false };
  tryTransfer(s);
}

/**
 * Asks the target to campaign as soon as it holds everything. Called again for each of its replies,
 * and on the leader's timer.
 */
export function tryTransfer(s: CoreState): void {
  const { leader, transfer } = s;
  if (leader === undefined || transfer === undefined || transfer.isAsked) return;
  const record = leader.records.get(transfer.target);
  if (record === undefined) {
    failTransfer(s, 'there is no appender for it');
  } else if (ask(s, record, transfer.id)) {
    transfer.isAsked = true;
  } else s.wake(record);
}

/** `accepted` undefined: the call failed. The target is asked again until the time is over. */
export function onStartLeaderElectionReply(
  s: CoreState,
  transferId: number,
  accepted: boolean | undefined,
): void {
  if (s.transfer?.id === transferId && accepted !== true) s.transfer.isAsked = false;
}

/** The time of a transfer is over (spec: consensus 2.9 step 4). */
export function expireTransfer(s: CoreState): void {
  const { transfer } = s;
  if (transfer === undefined || s.nowMs < transfer.deadlineMs) return;
  const isYield = transfer.requestIds.length === 0;
  // A peer that could not take over is not asked again at once: writes stand still meanwhile.
  if (isYield && s.leader !== undefined) {
    s.leader.yieldAfterMs = s.nowMs + YIELD_PAUSES * s.config.rpcTimeoutMaxMs;
  }
  failTransfer(s, 'it took too long');
}

const YIELD_PAUSES = 5;

/**
 * A voter of higher priority that keeps up takes over (spec: consensus 2.8). Under steady writes no
 * follower ever holds the last entry: it is enough that it holds what is committed, because writes
 * are refused while the rest is sent (spec: H-5).
 */
export function considerYield(s: CoreState): void {
  const { leader } = s;
  if (leader?.ready !== true || s.transfer !== undefined || isChanging(s)) return;
  if (s.nowMs < leader.yieldAfterMs || leader.leaveAtMs !== Infinity) return;
  const conf = s.configurations.current;
  const own = priorityOf(conf, s.selfId);
  const higher = allVoters(conf).filter((peer) => peer.priority > own);
  const highest = Math.max(...higher.map((peer) => peer.priority));
  for (const { id, priority } of higher) {
    const record = leader.records.get(id);
    if (record === undefined || priority !== highest) continue;
    const isAlive = s.nowMs - record.lastResponseMs <= s.config.rpcTimeoutMaxMs;
    if (!isAlive || record.matchIndex < s.commitIndex) continue;
    beginTransfer(s, id, s.nowMs + s.config.rpcTimeoutMinMs, []);
    return;
  }
}

/**
 * A leader that the committed configuration leaves out, or makes a listener, has somebody else
 * campaign at once; it leaves in any case when its time is over (spec: consensus 4.4, H-6).
 */
export function tryHandOver(s: CoreState, leader: LeaderState): void {
  if (leader.leaveAtMs === Infinity || leader.isHandedOver) return;
  const { voters } = s.configurations.current.cur;
  const highest = Math.max(...voters.map((peer) => peer.priority));
  for (const { id, priority } of voters) {
    const record = leader.records.get(id);
    if (record === undefined || priority < highest) continue;
    leader.isHandedOver = ask(s, record, NO_TRANSFER);
    if (leader.isHandedOver) return;
  }
}

const NO_TRANSFER = 0;

function ask(s: CoreState, record: FollowerRecord, transferId: Transfer['id']): boolean {
  const { lastEntry } = s.log;
  if (lastEntry === undefined || record.matchIndex < lastEntry.index) return false;
  const to = record.peerId;
  s.emit({ kind: 'startLeaderElection', to, transferId, leaderLastEntry: lastEntry });
  return true;
}
