import { InvalidArgumentError } from '../common/errors.js';
import { type Clock, type Random, type Runtime, randomInteger } from '../common/runtime.js';
import {
  LeaderNotReadyException,
  NotLeaderException,
  ResourceUnavailableException,
} from '../protocol/exceptions.js';
import type { RaftGroup } from '../protocol/group.js';
import type { RaftGroupId, RaftPeerId } from '../protocol/ids.js';
import { clientAddressOf, type RaftPeer } from '../protocol/peer.js';
import { shouldReconnect } from '../rpc/ratis/client/status-error.js';
import { inJavaOrder } from './java-order.js';
import { type LeaderCache, leaderCacheOf } from './leader-cache.js';

/** The same leader is noted in the cache again after so long. */
const CACHE_REFRESH_MS = 5_000;

/** What failover asks of the connections. */
export interface FailoverConnections {
  addPeers(peers: readonly RaftPeer[]): void;
  has(id: RaftPeerId): boolean;
  reset(id: RaftPeerId): void;
  backoffMs(id: RaftPeerId): number;
}

/**
 * The leader of a group as a client guesses it, and how failures change the guess (spec: client 6).
 */
export class LeaderTracker {
  readonly #groupId: RaftGroupId;
  readonly #connections: FailoverConnections;
  readonly #random: Random;
  readonly #clock: Clock;
  readonly #cache: LeaderCache;
  #peers: readonly RaftPeer[];
  #leaderId: RaftPeerId;
  #cached: RaftPeerId | undefined;
  #cachedMs = Number.NEGATIVE_INFINITY;

  /** Throws InvalidArgumentError when the group has no peer. */
  constructor(
    group: RaftGroup,
    leaderId: RaftPeerId | undefined,
    connections: FailoverConnections,
    runtime: Runtime,
  ) {
    if (group.peers.length === 0) throw new InvalidArgumentError('the group has no peers');
    this.#groupId = group.groupId;
    this.#peers = group.peers;
    this.#connections = connections;
    this.#random = runtime.random;
    this.#clock = runtime.clock;
    this.#cache = leaderCacheOf(runtime);
    this.#leaderId = leaderId ?? this.#firstGuess();
    connections.addPeers(group.peers);
  }

  get leaderId(): RaftPeerId {
    return this.#leaderId;
  }

  get peers(): readonly RaftPeer[] {
    return this.#peers;
  }

  /** A leader-bound request was answered by `serverId` without exception. */
  onAnswered(serverId: RaftPeerId): void {
    const nowMs = this.#clock.nowMs();
    if (this.#cached === serverId && nowMs - this.#cachedMs < CACHE_REFRESH_MS) return;
    this.#cached = serverId;
    this.#cachedMs = nowMs;
    this.#cache.put(this.#groupId, serverId);
  }

  /**
   * A request to `serverId` failed with `error`: maybe guesses another leader, maybe replaces the
   * connection.
   */
  onFailure(serverId: RaftPeerId, error: Error): void {
    if (error instanceof NotLeaderException) this.#onNotLeader(serverId, error);
    else this.#onFailure(serverId, error, undefined);
  }

  /**
   * A failure of the blocking path, which does not follow the hint of a NotLeader that came as an
   * RPC error.
   */
  onRpcFailure(serverId: RaftPeerId, error: Error): void {
    this.#onFailure(serverId, error, undefined);
  }

  #onNotLeader(serverId: RaftPeerId, error: NotLeaderException): void {
    const suggested = error.suggestedLeader;
    if (error.peers.length > 0) {
      this.#peers = error.peers;
      this.#connections.addPeers(error.peers.filter(hasAddress));
    }
    if (suggested !== undefined && hasAddress(suggested)) this.#connections.addPeers([suggested]);
    const usable = suggested !== undefined && this.#isReachable(suggested);
    this.#onFailure(serverId, error, usable ? suggested.id : undefined);
  }

  #onFailure(serverId: RaftPeerId, error: Error, suggested: RaftPeerId | undefined): void {
    if (error instanceof LeaderNotReadyException || error instanceof ResourceUnavailableException) {
      return;
    }
    const still = serverId === this.#leaderId;
    const next = still ? (suggested ?? this.#randomOther(serverId)) : undefined;
    if (next !== undefined) this.#leaderId = next;
    if (shouldReconnect(error)) this.#connections.reset(serverId);
  }

  /** Any peer but `serverId`; one that is not known to be unreachable, when there is one. */
  #randomOther(serverId: RaftPeerId): RaftPeerId | undefined {
    const others = this.#peers.filter(
      (peer) => peer.id !== serverId && this.#connections.has(peer.id),
    );
    const reachable = others.filter((peer) => this.#isReachable(peer));
    const candidates = reachable.length > 0 ? reachable : others;
    if (candidates.length === 0) return undefined;
    return candidates[randomInteger(this.#random, 0, candidates.length - 1)]?.id;
  }

  /** A follower goes on naming a leader that has just died: no reason to wait for that one. */
  #isReachable(peer: RaftPeer): boolean {
    return this.#connections.has(peer.id) && this.#connections.backoffMs(peer.id) === 0;
  }

  #firstGuess(): RaftPeerId {
    const cached = this.#cache.get(this.#groupId);
    if (cached !== undefined && this.#peers.some((peer) => peer.id === cached)) return cached;
    const best = inJavaOrder(this.#peers).reduce((a, b) => (b.priority > a.priority ? b : a));
    return best.id;
  }
}

function hasAddress(peer: RaftPeer): boolean {
  return clientAddressOf(peer) !== '';
}
