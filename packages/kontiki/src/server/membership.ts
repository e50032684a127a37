import type {
  ConfigurationFailure,
  EngineCommand,
  SetConfigurationRequest,
  TransferFailure,
} from '../core/types.js';
import { allPeers } from '../protocol/configuration.js';
import {
  IllegalArgumentException,
  LeaderSteppingDownException,
  type RaftException,
  ReconfigurationInProgressException,
  ReconfigurationTimeoutException,
  ServerNotReadyException,
  SetConfigurationException,
  TransferLeadershipException,
} from '../protocol/exceptions.js';
import type { RaftPeerId } from '../protocol/ids.js';
import type { RaftClientReply } from '../protocol/requests.js';
import type { TermIndex } from '../protocol/term-index.js';
import type { Outcome } from '../rpc/ratis/server/handler.js';
import type { DivisionParts } from './division-parts.js';
import type { ReplyIds } from './replies.js';

interface Waiting {
  readonly ids: ReplyIds;
  resolve(reply: RaftClientReply): void;
  reject(error: Error): void;
}

/**
 * Requests that change members or leader, and what servers ask each other for that (spec: consensus
 * 2.9, 4).
 */
export class Membership {
  readonly #parts: DivisionParts;
  readonly #waiting = new Map<number, Waiting>();
  readonly #invitations = new Map<number, Outcome<boolean>>();
  #nextId = 1;

  constructor(parts: DivisionParts) {
    this.#parts = parts;
  }

  /**
   * Resolves when the new configuration is committed, or with an exception that replies carry.
   * Rejects with what ends the RPC (spec: consensus 4.1).
   */
  setConfiguration(ids: ReplyIds, request: SetConfigurationRequest): Promise<RaftClientReply> {
    const { engine, nowMs } = this.#parts;
    return this.#submit(ids, (requestId) => engine.setConfiguration(requestId, request, nowMs()));
  }

  /** `target` undefined: this leader steps down. */
  transferLeadership(
    ids: ReplyIds,
    target: RaftPeerId | undefined,
    timeoutMs: number,
  ): Promise<RaftClientReply> {
    const { engine, nowMs } = this.#parts;
    return this.#submit(ids, (requestId) =>
      engine.transferLeadership(requestId, target, timeoutMs, nowMs()),
    );
  }

  setElectionsPaused(ids: ReplyIds, paused: boolean): Promise<RaftClientReply> {
    const { engine, nowMs } = this.#parts;
    return this.#submit(ids, (requestId) => {
      engine.setElectionsPaused(paused, nowMs());
      this.#take(requestId, (waiting) => this.#succeed(waiting));
    });
  }

  /** A leader asks this server to campaign. */
  onInvitation(
    leaderId: RaftPeerId,
    leaderLastEntry: TermIndex | undefined,
    done: Outcome<boolean>,
  ): void {
    const { submit, engine, nowMs, isRunning } = this.#parts;
    const isOpen = submit(() => {
      if (!isRunning()) {
        done(this.#notReady(), undefined);
        return;
      }
      const id = this.#nextId++;
      this.#invitations.set(id, done);
      engine.onStartLeaderElection(id, { leaderId, leaderLastEntry }, nowMs());
    });
    if (!isOpen) done(this.#notReady(), undefined);
  }

  answerInvitation(requestId: number, accepted: boolean | undefined): void {
    const done = this.#invitations.get(requestId);
    this.#invitations.delete(requestId);
    done?.(accepted === undefined ? this.#notReady() : undefined, accepted);
  }

  /** Asks a peer to campaign. */
  invite(command: EngineCommand & { kind: 'startLeaderElection' }): void {
    const { engine, selfId, groupId, submit, nowMs, logger } = this.#parts;
    const { to, transferId, leaderLastEntry } = command;
    const peer = allPeers(engine.configuration).find((one) => one.id === to);
    const stubs = peer === undefined ? undefined : this.#parts.stubsOf(peer);
    const told = (accepted: boolean | undefined): void => {
      submit(() => engine.onStartLeaderElectionReply(transferId, accepted, nowMs()));
    };
    if (stubs === undefined) {
      told(undefined);
      return;
    }
    const route = { from: selfId, to, groupId };
    stubs.startLeaderElection(route, leaderLastEntry, (accepted, error) => {
      const outcome = error === undefined ? (accepted === true ? 'campaigns' : 'refuses') : error;
      logger.log('info', `asked ${to} to take over: ${String(outcome)}`);
      told(accepted);
    });
  }

  done(requestId: number): void {
    this.#take(requestId, (waiting) => this.#succeed(waiting));
  }

  configurationFailed(requestId: number, failure: ConfigurationFailure): void {
    this.#take(requestId, (waiting) => {
      switch (failure.kind) {
        case 'inProgress':
          waiting.reject(new ReconfigurationInProgressException(failure.message));
          return;
        case 'refused':
          waiting.reject(new SetConfigurationException(failure.message));
          return;
        case 'invalid':
          waiting.reject(new IllegalArgumentException(failure.message));
          return;
        case 'timeout':
          waiting.reject(new ReconfigurationTimeoutException(failure.message));
          return;
        default:
          this.#notTaken(waiting, failure.kind);
      }
    });
  }

  transferFailed(requestId: number, failure: TransferFailure): void {
    this.#take(requestId, (waiting) => {
      if (failure.kind !== 'refused') this.#notTaken(waiting, failure.kind);
      else this.#except(waiting, new TransferLeadershipException(failure.message));
    });
  }

  /** The division closes. */
  failAll(): void {
    for (const id of [...this.#waiting.keys()]) {
      this.#take(id, (waiting) => waiting.reject(this.#notReady()));
    }
    for (const id of [...this.#invitations.keys()]) this.answerInvitation(id, undefined);
  }

  #submit(ids: ReplyIds, input: (requestId: number) => void): Promise<RaftClientReply> {
    const { submit, isRunning } = this.#parts;
    return new Promise((resolve, reject) => {
      const isOpen = submit(() => {
        if (!isRunning()) {
          reject(this.#notReady());
          return;
        }
        const id = this.#nextId++;
        this.#waiting.set(id, { ids, resolve, reject });
        input(id);
      });
      if (!isOpen) reject(this.#notReady());
    });
  }

  #take(requestId: number, then: (waiting: Waiting) => void): void {
    const waiting = this.#waiting.get(requestId);
    this.#waiting.delete(requestId);
    if (waiting !== undefined) then(waiting);
  }

  #succeed({ ids, resolve }: Waiting): void {
    resolve(this.#parts.replies.success(ids, undefined));
  }

  #except({ ids, resolve }: Waiting, exception: RaftException): void {
    resolve(this.#parts.replies.exception(ids, exception));
  }

  /** A leader check failed (spec: consensus 7.1). */
  #notTaken(waiting: Waiting, kind: 'notLeader' | 'notReady' | 'steppingDown'): void {
    const { replies, engine, isRunning, memberId } = this.#parts;
    if (kind === 'notReady') this.#except(waiting, replies.notReady());
    else if (kind === 'steppingDown') {
      this.#except(waiting, new LeaderSteppingDownException(`${memberId} is stepping down`));
    } else {
      const { leaderId, configuration } = engine;
      this.#except(waiting, replies.notLeader(isRunning(), leaderId, configuration));
    }
  }

  #notReady(): ServerNotReadyException {
    return new ServerNotReadyException(`${this.#parts.memberId} is not in RUNNING state`);
  }
}
