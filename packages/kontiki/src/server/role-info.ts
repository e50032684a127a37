import { allPeers } from '../protocol/configuration.js';
import { createPeer, type RaftPeer, RaftPeerRole } from '../protocol/peer.js';
import type { LogInfo, RoleInfo } from '../protocol/requests.js';
import type { DivisionParts } from './division-parts.js';

function peerOf(parts: DivisionParts, id: string): RaftPeer | undefined {
  return allPeers(parts.engine.configuration).find((peer) => peer.id === id);
}

/** What a division says of its role (spec: consensus 1.5). */
export function roleInfoOf(parts: DivisionParts): RoleInfo {
  const { engine, selfId } = parts;
  const nowMs = parts.nowMs();
  const base = {
    self: peerOf(parts, selfId) ?? createPeer({ id: selfId }),
    role: engine.role,
    roleElapsedMs: Math.floor(nowMs - engine.roleSinceMs),
  };
  if (engine.role === RaftPeerRole.LEADER) {
    const followers = engine.followers(nowMs).map((follower) => ({
      peer: peerOf(parts, follower.peerId),
      lastRpcElapsedMs: Math.floor(follower.lastResponseElapsedMs),
    }));
    return { ...base, leaderInfo: { followers, term: engine.currentTerm } };
  }
  if (engine.role === RaftPeerRole.CANDIDATE) {
    return { ...base, candidateInfo: { lastLeaderElapsedMs: base.roleElapsedMs } };
  }
  const timer = engine.followerTimer(nowMs);
  const { leaderId } = engine;
  const leader = leaderId === undefined ? undefined : peerOf(parts, leaderId);
  return {
    ...base,
    followerInfo: {
      leader: { peer: leader, lastRpcElapsedMs: Math.floor(timer?.elapsedMs ?? 0) },
      outstandingOp: timer?.outstanding ?? 0,
    },
  };
}

/** How far the division's log got. */
export function logInfoOf(parts: DivisionParts): LogInfo {
  const { engine, log, stateMachine } = parts;
  const at = (index: number) => {
    const term = engine.termAt(index);
    return term === undefined ? undefined : { term, index };
  };
  return {
    lastSnapshot: stateMachine.getLatestSnapshot()?.termIndex,
    applied: at(engine.appliedIndex),
    committed: at(engine.commitIndex),
    lastEntry: log.lastTermIndex,
  };
}
