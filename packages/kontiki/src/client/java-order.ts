import type { RaftPeer } from '../protocol/peer.js';

/** Java's string hash, as a signed 32-bit integer. */
function stringHash(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(31, hash) + text.charCodeAt(i)) | 0;
  return hash;
}

/**
 * The peers in the order in which a Java hash map of their ids lists them (spec: wire-grpc 2.6).
 * Only the order of first choices depends on it: the first leader guess on equal priorities, and
 * the primary of data streams.
 */
export function inJavaOrder(peers: readonly RaftPeer[]): RaftPeer[] {
  let capacity = 16;
  while (peers.length > capacity * 0.75) capacity *= 2;
  const bucket = (peer: RaftPeer) => {
    const hash = stringHash(peer.id);
    return (hash ^ (hash >>> 16)) & (capacity - 1);
  };
  return peers
    .map((peer, position) => ({ peer, position, bucket: bucket(peer) }))
    .sort((a, b) => a.bucket - b.bucket || a.position - b.position)
    .map(({ peer }) => peer);
}
