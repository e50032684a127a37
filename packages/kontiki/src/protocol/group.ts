import { InvalidArgumentError } from '../common/errors.js';
import type { RaftGroupId, RaftPeerId } from './ids.js';
import type { RaftPeer } from './peer.js';

/** A group id and the peers it starts with. */
export interface RaftGroup {
  readonly groupId: RaftGroupId;
  readonly peers: readonly RaftPeer[];
}

/**
 * Throws InvalidArgumentError on the reserved all-zero id and on peers with equal ids (spec: client
 * 1).
 */
export function createGroup(groupId: RaftGroupId, peers: readonly RaftPeer[]): RaftGroup {
  if (groupId.isZero) throw new InvalidArgumentError('the all-zero group id is reserved');
  const ids = new Set<RaftPeerId>();
  for (const peer of peers) {
    if (ids.has(peer.id)) throw new InvalidArgumentError(`peer ${peer.id} occurs twice`);
    ids.add(peer.id);
  }
  return { groupId, peers: [...peers] };
}

export function findPeer(group: RaftGroup, id: RaftPeerId): RaftPeer | undefined {
  return group.peers.find((peer) => peer.id === id);
}
