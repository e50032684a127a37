import {
  createConfiguration,
  type PeerSet,
  type RaftConfiguration,
} from '../protocol/configuration.js';
import { type RaftPeer, RaftPeerRole } from '../protocol/peer.js';
import type { SetConfigurationRequest } from './types.js';

const { FOLLOWER, LISTENER } = RaftPeerRole;

/**
 * The members that a request asks for (spec: consensus 4.1 check 3). ADD keeps the other voters and
 * the other listeners (spec: H-7). Undefined: COMPARE_AND_SET expects other members than there are.
 * Throws InvalidArgumentError when a peer occurs twice.
 */
export function newMembers(
  conf: RaftConfiguration,
  request: SetConfigurationRequest,
): PeerSet | undefined {
  const { cur } = conf;
  const { mode, peers, listeners } = request;
  if (mode === 'COMPARE_AND_SET') {
    const expected =
      sameIds(request.currentPeers, cur.voters) && sameIds(request.currentListeners, cur.listeners);
    if (!expected) return undefined;
  }
  const named = new Set([...peers, ...listeners].map((peer) => peer.id));
  const kept = (known: readonly RaftPeer[]): readonly RaftPeer[] =>
    mode === 'ADD' ? known.filter((peer) => !named.has(peer.id)) : [];
  const members: PeerSet = {
    voters: [...peers, ...kept(cur.voters)].map((peer) => merged(cur, peer, FOLLOWER)),
    listeners: [...listeners, ...kept(cur.listeners)].map((peer) => merged(cur, peer, LISTENER)),
  };
  return createConfiguration(members, undefined, conf.index).cur;
}

/** An address that the request leaves empty stays as it is known. */
function merged(cur: PeerSet, peer: RaftPeer, startupRole: RaftPeer['startupRole']): RaftPeer {
  const known = find(cur.voters, peer.id) ?? find(cur.listeners, peer.id);
  return {
    ...peer,
    startupRole,
    address: peer.address || (known?.address ?? ''),
    clientAddress: peer.clientAddress || (known?.clientAddress ?? ''),
    adminAddress: peer.adminAddress || (known?.adminAddress ?? ''),
    dataStreamAddress: peer.dataStreamAddress || (known?.dataStreamAddress ?? ''),
  };
}

function find(peers: readonly RaftPeer[], id: string): RaftPeer | undefined {
  return peers.find((peer) => peer.id === id);
}

function sameIds(a: readonly RaftPeer[], b: readonly RaftPeer[]): boolean {
  return a.length === b.length && a.every((peer) => find(b, peer.id) !== undefined);
}

/** Members, priorities and addresses are what they were (spec: consensus 4.1 check 4). */
export function isNoChange(from: PeerSet, to: PeerSet): boolean {
  return sameList(from.voters, to.voters) && sameList(from.listeners, to.listeners);
}

function sameList(a: readonly RaftPeer[], b: readonly RaftPeer[]): boolean {
  return (
    a.length === b.length &&
    a.every((peer) => {
      const other = find(b, peer.id);
      return other !== undefined && peer.priority === other.priority && sameAddresses(peer, other);
    })
  );
}

/** The peer is reached where it was before. */
export function sameAddresses(a: RaftPeer, b: RaftPeer): boolean {
  return (
    a.address === b.address &&
    a.clientAddress === b.clientAddress &&
    a.adminAddress === b.adminAddress &&
    a.dataStreamAddress === b.dataStreamAddress
  );
}

/**
 * New voters are as many as those that stay, or more: together they could decide without anybody
 * who holds the log (spec: consensus 4.1 check 5). One server may grow to two.
 */
export function addsMajority(from: PeerSet, to: PeerSet): boolean {
  const added = to.voters.filter((peer) => find(from.voters, peer.id) === undefined).length;
  if (from.voters.length === 1 && to.voters.length === 2 && added === 1) return false;
  return added > 0 && added >= to.voters.length - added;
}

/** Peers that are neither voters nor listeners yet (spec: consensus 4.2). */
export function newcomers(from: PeerSet, to: PeerSet): RaftPeer[] {
  const known = new Set([...from.voters, ...from.listeners].map((peer) => peer.id));
  return [...to.voters, ...to.listeners].filter((peer) => !known.has(peer.id));
}
