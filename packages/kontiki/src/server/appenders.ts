import type { RaftPeerId } from '../protocol/ids.js';
import type { RaftPeer } from '../protocol/peer.js';
import { Appender, type AppenderHooks } from './appender.js';
import type { DivisionParts } from './division-parts.js';

/** The appenders of a leader, by follower. */
export class Appenders {
  readonly #parts: DivisionParts;
  readonly #hooks: AppenderHooks;
  readonly #byPeer = new Map<RaftPeerId, Appender>();

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
      readFailed: (error) => parts.fail(error),
    };
  }

  start(peer: RaftPeer, epoch: number): void {
    const peerId = peer.id;
    this.#byPeer.get(peerId)?.stop();
    this.#byPeer.delete(peerId);
    const { selfId, groupId, logger } = this.#parts;
    const stubs = this.#parts.stubsOf(peer);
    if (stubs === undefined) {
      logger.log('warn', `peer ${peerId} has no address: nothing is replicated to it`);
      return;
    }
    const route = { from: selfId, to: peerId, groupId };
    this.#byPeer.set(peerId, new Appender(epoch, stubs, route, this.#hooks));
  }

  stop(peerId: RaftPeerId, epoch: number): void {
    const appender = this.#byPeer.get(peerId);
    if (appender?.epoch !== epoch) return;
    appender.stop();
    this.#byPeer.delete(peerId);
  }

  wake(peerId: RaftPeerId): void {
    const appender = this.#byPeer.get(peerId);
    if (appender !== undefined) appender.pumpAtMs = 0;
  }

  stopAll(): void {
    for (const appender of this.#byPeer.values()) appender.stop();
    this.#byPeer.clear();
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
