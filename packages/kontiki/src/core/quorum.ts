import type { PeerSet, RaftConfiguration } from '../protocol/configuration.js';
import type { RaftPeerId } from '../protocol/ids.js';
import type { RaftPeer } from '../protocol/peer.js';

/** Tells whether a voter belongs to the set that is counted. */
export type VoterTest = (id: RaftPeerId) => boolean;

function has(peers: readonly RaftPeer[], id: RaftPeerId): boolean {
  for (const peer of peers) if (peer.id === id) return true;
  return false;
}

function count(set: PeerSet, test: VoterTest): number {
  let counted = 0;
  for (const peer of set.voters) if (test(peer.id)) counted++;
  return counted;
}

function moreThanHalf(set: PeerSet, test: VoterTest): boolean {
  return set.voters.length === 0 || 2 * count(set, test) > set.voters.length;
}

function tooManyReject(set: PeerSet, test: VoterTest): boolean {
  const size = set.voters.length;
  return size > 0 && size - count(set, test) <= Math.floor(size / 2);
}

/**
 * A majority of the current voters, and of the old ones during joint consensus (spec: consensus
 * 0.3). Only voters are counted.
 */
export function hasMajority(conf: RaftConfiguration, test: VoterTest): boolean {
  return moreThanHalf(conf.cur, test) && (conf.old === undefined || moreThanHalf(conf.old, test));
}

/**
 * Those who rejected make a majority impossible; of an even number, half is enough (spec: consensus
 * 0.3).
 */
export function majorityRejects(conf: RaftConfiguration, rejected: VoterTest): boolean {
  return (
    tooManyReject(conf.cur, rejected) ||
    (conf.old !== undefined && tooManyReject(conf.old, rejected))
  );
}

/** One server alone, or one that grows to two (spec: consensus 0.3). */
export function isSingleMode(conf: RaftConfiguration, selfId: RaftPeerId): boolean {
  const { cur, old } = conf;
  if (old === undefined) return cur.voters.length === 1 && has(cur.voters, selfId);
  return (
    old.voters.length === 1 &&
    has(old.voters, selfId) &&
    cur.voters.length === 2 &&
    has(cur.voters, selfId)
  );
}

/** No other voter has a say (spec: consensus 0.3). */
export function isSingleton(conf: RaftConfiguration): boolean {
  return conf.cur.voters.length === 1 && (conf.old?.voters.length ?? 0) <= 1;
}

export function isCurrentVoter(conf: RaftConfiguration, id: RaftPeerId): boolean {
  return has(conf.cur.voters, id);
}

export function isOldVoter(conf: RaftConfiguration, id: RaftPeerId): boolean {
  return conf.old !== undefined && has(conf.old.voters, id);
}

/** Voter of either side. */
export function isVoter(conf: RaftConfiguration, id: RaftPeerId): boolean {
  return isCurrentVoter(conf, id) || isOldVoter(conf, id);
}

export function isListener(conf: RaftConfiguration, id: RaftPeerId): boolean {
  return has(conf.cur.listeners, id) || (conf.old !== undefined && has(conf.old.listeners, id));
}

/** Voters of both sides, each once. */
export function allVoters(conf: RaftConfiguration): RaftPeer[] {
  const voters = [...conf.cur.voters];
  for (const peer of conf.old?.voters ?? []) if (!has(voters, peer.id)) voters.push(peer);
  return voters;
}

/** Whom a candidate asks: voters of both sides but itself (spec: consensus 0.3, `others`). */
export function otherVoters(conf: RaftConfiguration, selfId: RaftPeerId): RaftPeer[] {
  return allVoters(conf).filter((peer) => peer.id !== selfId);
}

/** Priority by the current side, else by the old one, else 0 (spec: P-1). */
export function priorityOf(conf: RaftConfiguration, id: RaftPeerId): number {
  return allVoters(conf).find((peer) => peer.id === id)?.priority ?? 0;
}

/** Order statistics of one value a voter. */
export interface Levels {
  min: number;
  majority: number;
  max: number;
}

/**
 * Sorts the first `size` values in place and reads the levels; false when there are none (spec:
 * consensus 3.10).
 */
export function levelsOf(values: number[], size: number, out: Levels): boolean {
  if (size === 0) return false;
  for (let i = 1; i < size; i++) {
    const value = values[i] as number;
    let j = i - 1;
    for (; j >= 0 && (values[j] as number) > value; j--) values[j + 1] = values[j] as number;
    values[j + 1] = value;
  }
  out.min = values[0] as number;
  out.majority = values[(size - 1) >> 1] as number;
  out.max = values[size - 1] as number;
  return true;
}

/**
 * Joint consensus: both sides must agree, so the smaller level of each kind counts (spec: consensus
 * 3.10 step 3).
 */
export function combineLevels(into: Levels, other: Levels): void {
  into.min = Math.min(into.min, other.min);
  into.majority = Math.min(into.majority, other.majority);
  into.max = Math.min(into.max, other.max);
}
