import type { RaftPeerId } from '../protocol/ids.js';
import type { RaftPeer } from '../protocol/peer.js';
import { Appender, type AppenderHooks } from './appender.js';
import type { DivisionParts } from './division-parts.js';
import { FollowerInstall } from './follower-install.js';

/** The appenders of a leader, by follower. */
export class Appenders {
  readonly #parts: DivisionParts;
  readonly #hooks: AppenderHooks;
  readonly #byPeer = new Map<RaftPeerId, Appender>();
  readonly #installs = new Map<RaftPeerId, FollowerInstall>();

  constructor(parts: DivisionParts) {
    this.#parts = parts;
    const { config, engine, log, logger, commitInfos } = parts;
    this.#hooks = {
      engine,
      log,
      logger,
      limits: {
        maxBytes: config.appendByteLimit,
        maxCount: config.appendElementLimit === 0 ? 1 << 20 : config.appendElementLimit,
      },
      heartbeatPollMs: Math.max(1, config.engine.rpcTimeoutMinMs / 8),
      commitInfos: () => commitInfos.messages,
      nowMs: parts.nowMs,
      submit: parts.submit,
      peerAnswered: (peerId) => parts.operatorLog.peerAnswered(peerId),
      peerFailed: (peerId, reason) => parts.operatorLog.peerFailed(peerId, reason),
      followerCommit: (peerId, commitIndex) => commitInfos.update(peerId, commitIndex),
      needsSnapshot: (peerId) => this.#installs.get(peerId)?.start(),
      readFailed: (error) => parts.fail(error),
    };
  }

  start(peer: RaftPeer, epoch: number): void {
    const peerId = peer.id;
    this.#drop(peerId);
    const { selfId, groupId, logger } = this.#parts;
    const stubs = this.#parts.stubsOf(peer);
    if (stubs === undefined) {
      logger.log('warn', `peer ${peerId} has no address: nothing is replicated to it`);
      return;
    }
    const route = { from: selfId, to: peerId, groupId };
    this.#byPeer.set(peerId, new Appender(epoch, stubs, route, this.#hooks));
    const install = new FollowerInstall(this.#parts, peer, epoch, stubs, route);
    this.#installs.set(peerId, install);
  }

  stop(peerId: RaftPeerId, epoch: number): void {
    if (this.#byPeer.get(peerId)?.epoch === epoch) this.#drop(peerId);
  }

  wake(peerId: RaftPeerId): void {
    const appender = this.#byPeer.get(peerId);
    if (appender !== undefined) appender.pumpAtMs = 0;
  }

  stopAll(): void {
    for (const peerId of [...this.#byPeer.keys()]) this.#drop(peerId);
  }

  #drop(peerId: RaftPeerId): void {
    this.#byPeer.get(peerId)?.stop();
    this.#byPeer.delete(peerId);
    this.#installs.get(peerId)?.stop();
    this.#installs.delete(peerId);
  }

  /** Pumps those whose time has come. True when the engine was told of something. */
  pump(nowMs: number): boolean {
    let sent = false;
    for (const appender of this.#byPeer.values()) {
      if (appender.pumpAtMs <= nowMs && appender.pump()) sent = true;
    }
    return sent;
  }

  pumpAtMs(): number {
    let atMs = Number.POSITIVE_INFINITY;
    for (const appender of this.#byPeer.values()) atMs = Math.min(atMs, appender.pumpAtMs);
    return atMs;
  }
}
