import { messageOf } from '../common/errors.js';
import { RaftIOException } from '../protocol/exceptions.js';
import type { RaftPeer } from '../protocol/peer.js';
import {
  type InstallSnapshotReply,
  type InstallSnapshotRequest,
  InstallSnapshotResult,
} from '../protocol/server-messages.js';
import type { CallRoute, PeerStubs } from '../rpc/ratis/server/peer-stubs.js';
import type { DivisionParts } from './division-parts.js';
import { SnapshotNotifier } from './snapshot-notifier.js';
import { SnapshotSender } from './snapshot-sender.js';

/** Pauses after failed transfers, doubled each time. */
const PAUSE_MIN_MS = 50;
const PAUSE_MAX_MS = 5000;

/**
 * Brings one follower up by snapshot, in chunks or by notification as the configuration says, when
 * its appender finds that entries won't do (spec: consensus 3.8.4, 5.3, 5.4). Entries and
 * heartbeats go their own way meanwhile.
 */
export class FollowerInstall {
  readonly #parts: DivisionParts;
  readonly #peer: RaftPeer;
  readonly #epoch: number;
  readonly #stubs: PeerStubs;
  readonly #route: CallRoute;
  #active: { stop(): void } | undefined;
  #failures = 0;
  #notBeforeMs = 0;
  #stopped = false;

  constructor(
    parts: DivisionParts,
    peer: RaftPeer,
    epoch: number,
    stubs: PeerStubs,
    route: CallRoute,
  ) {
    this.#parts = parts;
    this.#peer = peer;
    this.#epoch = epoch;
    this.#stubs = stubs;
    this.#route = route;
  }

  /** Starts a transfer, unless one is under way or it is too early after a failed one. */
  start(): void {
    const { nowMs, config } = this.#parts;
    if (this.#stopped || this.#active !== undefined || nowMs() < this.#notBeforeMs) return;
    if (config.snapshot.install.chunksEnabled) this.#sendSnapshot();
    else this.#notify();
  }

  stop(): void {
    this.#stopped = true;
    this.#active?.stop();
    this.#active = undefined;
  }

  #sendSnapshot(): void {
    const { stateMachine, storage, config, fileSystem, runtime, logger, memberId } = this.#parts;
    const snapshot = stateMachine.getLatestSnapshot();
    if (snapshot === undefined || snapshot.files.length === 0) {
      this.#failed(new RaftIOException(`${memberId} has no snapshot, and purged what is needed`));
      return;
    }
    const { index } = snapshot.termIndex;
    const leaderTerm = this.#parts.engine.currentTerm;
    logger.log('info', `sending the snapshot at ${index} to ${this.#peer.id}`);
    this.#active = new SnapshotSender({
      snapshot,
      requestId: uuidText(runtime.random.bytes(16)),
      stateMachineDirectory: storage.stateMachineDirectory,
      config: config.snapshot.install,
      fs: fileSystem,
      timers: runtime.timers,
      open: (listener) => this.#stubs.openInstallStream(listener),
      send: (stream, body) => stream.send(this.#request(leaderTerm, body)),
      onReply: (reply) => this.#replied(reply),
      onEnd: (error) => {
        this.#active = undefined;
        if (error === undefined) this.#installed(index);
        else this.#failed(error);
      },
    });
  }

  #notify(): void {
    const { engine, log, config, runtime, nowMs } = this.#parts;
    const term = log.termAt(log.startIndex);
    const firstAvailable =
      term === undefined
        ? { term: engine.currentTerm, index: engine.lastIndex + 1 }
        : { term, index: log.startIndex };
    this.#active = new SnapshotNotifier({
      request: this.#request(engine.currentTerm, { kind: 'notification', firstAvailable }),
      timeoutMs: config.rpcRequestTimeoutMs,
      timers: runtime.timers,
      open: (listener) => this.#stubs.openInstallStream(listener),
      onEnd: (reply, error) => {
        this.#active = undefined;
        // It is asked again, but not all the time.
        this.#notBeforeMs = nowMs() + config.engine.rpcTimeoutMinMs / 4;
        if (reply === undefined) this.#failed(error ?? new RaftIOException('no reply'));
        else this.#notified(reply);
      },
    });
  }

  #notified(reply: InstallSnapshotReply): void {
    const { ALREADY_INSTALLED, SNAPSHOT_INSTALLED, SNAPSHOT_UNAVAILABLE } = InstallSnapshotResult;
    this.#replied(reply);
    const index = reply.body?.kind === 'snapshotIndex' ? reply.body.snapshotIndex : -1;
    const { stateMachine, log, logger } = this.#parts;
    const tell = (result: string, at: number): void => {
      try {
        stateMachine.events?.notifySnapshotInstalled?.(result, at, this.#peer);
      } catch (error) {
        logger.log('error', `an event failed: ${messageOf(error)}`, { error });
      }
    };
    if (reply.result === SNAPSHOT_UNAVAILABLE) tell('SNAPSHOT_UNAVAILABLE', -1);
    if (reply.result !== ALREADY_INSTALLED && reply.result !== SNAPSHOT_INSTALLED) return;
    this.#installed(index);
    const isEnough = reply.result === SNAPSHOT_INSTALLED && index + 1 >= log.startIndex;
    if (isEnough) tell('SUCCESS', index);
  }

  #replied(reply: InstallSnapshotReply): void {
    const { NOT_LEADER, IN_PROGRESS, CONF_MISMATCH, SNAPSHOT_EXPIRED } = InstallSnapshotResult;
    const { engine, submit, nowMs, logger } = this.#parts;
    const { result, term } = reply;
    const isRefused = result === CONF_MISMATCH || result === SNAPSHOT_EXPIRED;
    if (isRefused) logger.log('warn', `${this.#peer.id} refuses snapshots: result ${result}`);
    const isKnown = result >= 0 && result <= SNAPSHOT_EXPIRED;
    const received =
      result === NOT_LEADER
        ? ({ kind: 'notLeader', term } as const)
        : isRefused || result === IN_PROGRESS || !isKnown
          ? ({ kind: 'pending' } as const)
          : ({ kind: 'attempted' } as const);
    submit(() => engine.onSnapshotReply(this.#peer.id, this.#epoch, received, nowMs()));
  }

  #installed(index: number): void {
    const { engine, submit, nowMs, logger, commitInfos } = this.#parts;
    this.#failures = 0;
    logger.log('info', `${this.#peer.id} has the snapshot at ${index}`);
    submit(() => {
      commitInfos.update(this.#peer.id, index);
      engine.onFollowerInstalled(this.#peer.id, this.#epoch, index, nowMs());
    });
  }

  #failed(error: Error): void {
    if (this.#stopped) return;
    const pauseMs = Math.min(PAUSE_MAX_MS, PAUSE_MIN_MS * 2 ** this.#failures++);
    this.#notBeforeMs = this.#parts.nowMs() + pauseMs;
    const text = `no snapshot for ${this.#peer.id}, again in ${pauseMs} ms: ${error.message}`;
    this.#parts.logger.log('warn', text);
  }

  #request(leaderTerm: number, body: InstallSnapshotRequest['body']): InstallSnapshotRequest {
    const { from, to, groupId } = this.#route;
    return {
      requestorId: from,
      replyId: to,
      groupId,
      // A number here would have a Java follower refuse the chunks of a later leader (spec: H-24).
      callId: 0,
      leaderTerm,
      body,
      lastConfiguration: this.#parts.engine.configuration,
    };
  }
}

/** A random UUID of version 4, as text. */
function uuidText(random: Uint8Array): string {
  const bytes = random.slice();
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Buffer.from(bytes).toString('hex');
  return [8, 12, 16, 20, 32].map((end, i) => hex.slice([0, 8, 12, 16, 20][i], end)).join('-');
}
