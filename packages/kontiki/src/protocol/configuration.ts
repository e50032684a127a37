import { InvalidArgumentError } from '../common/errors.js';
import { type RaftPeer, RaftPeerRole, samePeer } from './peer.js';
import { INVALID_INDEX } from './term-index.js';

/** One side of a configuration: who votes, who only listens. */
export interface PeerSet {
  readonly voters: readonly RaftPeer[];
  readonly listeners: readonly RaftPeer[];
}

/**
 * Members of a group from one log index on. `old` is present during joint consensus (spec:
 * consensus 0.3).
 */
export interface RaftConfiguration {
  readonly cur: PeerSet;
  readonly old: PeerSet | undefined;
  /** Log index of its entry; -1 for the initial one. */
  readonly index: number;
}

function checkUnique(set: PeerSet): void {
  const ids = new Set<string>();
  for (const peer of [...set.voters, ...set.listeners]) {
    if (ids.has(peer.id)) throw new InvalidArgumentError(`peer ${peer.id} occurs twice`);
    ids.add(peer.id);
  }
}

/**
 * Throws InvalidArgumentError when a peer occurs twice in one side. An `old` without any peer
 * counts as absent.
 */
export function createConfiguration(
  cur: PeerSet,
  old: PeerSet | undefined,
  index: number,
): RaftConfiguration {
  checkUnique(cur);
  const joint = old !== undefined && old.voters.length + old.listeners.length > 0;
  if (joint) checkUnique(old);
  return { cur, old: joint ? old : undefined, index };
}

/** The configuration a group starts with: roles by startupRole (spec: consensus 0.3). */
export function initialConfiguration(peers: readonly RaftPeer[]): RaftConfiguration {
  return createConfiguration(
    {
      voters: peers.filter((peer) => peer.startupRole !== RaftPeerRole.LISTENER),
      listeners: peers.filter((peer) => peer.startupRole === RaftPeerRole.LISTENER),
    },
    undefined,
    INVALID_INDEX,
  );
}

function sameList(a: readonly RaftPeer[], b: readonly RaftPeer[]): boolean {
  return a.length === b.length && a.every((peer) => b.some((other) => samePeer(peer, other)));
}

function sameSet(a: PeerSet | undefined, b: PeerSet | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  return sameList(a.voters, b.voters) && sameList(a.listeners, b.listeners);
}

/** Full comparison: index, both sides, every field of every peer (spec: H-20). */
export function sameConfiguration(a: RaftConfiguration, b: RaftConfiguration): boolean {
  return a.index === b.index && sameSet(a.cur, b.cur) && sameSet(a.old, b.old);
}

/** Every peer of the configuration once, current before old, voters before listeners. */
export function allPeers(conf: RaftConfiguration): RaftPeer[] {
  const peers = new Map<string, RaftPeer>();
  const sides = conf.old === undefined ? [conf.cur] : [conf.cur, conf.old];
  for (const list of [...sides.map((s) => s.voters), ...sides.map((s) => s.listeners)]) {
    for (const peer of list) if (!peers.has(peer.id)) peers.set(peer.id, peer);
  }
  return [...peers.values()];
}
