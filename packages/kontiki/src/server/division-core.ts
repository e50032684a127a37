import { messageOf, toError } from '../common/errors.js';
import type { EngineCommand } from '../core/types.js';
import { decodePeer, encodePeer } from '../proto/wire/index.js';
import type { LogEntry } from '../proto/wire/types.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import { RaftPeerRole } from '../protocol/peer.js';
import { AppendRequests } from './append-requests.js';
import { Appenders } from './appenders.js';
import { ClientRequests } from './client-requests.js';
import { type CommandEvents, CommandRunner } from './command-runner.js';
import { CommitInfos } from './commit-infos.js';
import type { OpenedDivision } from './division-open.js';
import type { DivisionParts } from './division-parts.js';
import { Driver, type DriverHooks } from './driver.js';
import { Membership } from './membership.js';
import { OperatorLog } from './operator-log.js';
import type { PendingWrite } from './pending-write.js';
import { ReadRequests } from './read-requests.js';
import { Replies } from './replies.js';
import { RetryCache } from './retry-cache.js';
import type { WriteOutcome } from './retry-records.js';
import { roleInfoOf } from './role-info.js';
import type { Scheduler } from './scheduler.js';
import { SnapshotInstalls } from './snapshot-installs.js';
import { Snapshots } from './snapshots.js';
import type { Transaction } from './transaction-context.js';
import { Transactions } from './transactions.js';
import { type ApplyResult, Updater, type UpdaterHooks } from './updater.js';
import { Votes } from './votes.js';
import { Watches } from './watches.js';
import { WriteRequests } from './write-requests.js';

/** What the core gets from outside of the division. */
export type CoreEnvironment = Pick<
  DivisionParts,
  | 'selfId'
  | 'groupId'
  | 'memberId'
  | 'config'
  | 'fileSystem'
  | 'runtime'
  | 'logger'
  | 'stateMachine'
  | 'stubsOf'
  | 'fail'
> & {
  readonly scheduler: Scheduler;
  /** The leader lost its office: ordered client streams of the group end (spec: consensus 3.12). */
  leadershipLost(): void;
  /** The division is to close itself: it left the group. */
  closeDivision(reason: string): void;
  isServing(): boolean;
};

/** How often the log hears which entries are still needed. */
const POSITIONS_INTERVAL_MS = 25;

/** A division at work: wires the parts together, and is what the driver drives. */
export class DivisionCore implements DriverHooks, CommandEvents, UpdaterHooks {
  readonly parts: DivisionParts;
  readonly requests: ClientRequests;
  readonly reads: ReadRequests;
  readonly appends: AppendRequests;
  readonly votes: Votes;
  readonly membership: Membership;
  readonly snapshots: Snapshots;
  readonly installs: SnapshotInstalls;
  readonly updater: Updater;
  readonly #environment: CoreEnvironment;
  readonly #snapshotIndex: number;
  readonly #driver: Driver;
  readonly #runner: CommandRunner;
  readonly #writes: WriteRequests;
  readonly #watches: Watches;
  readonly #appenders: Appenders;
  readonly #transactions: Transactions;
  #wasLeader = false;
  #closing = false;
  #positionsAtMs = 0;

  constructor(environment: CoreEnvironment, opened: OpenedDivision) {
    this.#environment = environment;
    const { engine, log } = opened;
    this.#snapshotIndex = opened.snapshotIndex;
    this.#driver = new Driver(engine, environment.runtime, environment.scheduler, this);
    this.parts = this.#createParts(environment, opened);
    const { parts } = this;
    this.#watches = new Watches(
      parts.replies,
      {
        elementLimit: parts.config.watchElementLimit,
        timeoutMs: parts.config.watchTimeoutMs,
        denominationMs: parts.config.watchDenominationMs,
      },
      () => engine.watchLevels,
      parts.nowMs,
    );
    this.#writes = new WriteRequests(parts, this.#watches);
    this.#transactions = new Transactions(this.#writes.pending);
    opened.dataStore?.bind((entry) => this.#transactions.forData(entry));
    this.updater = new Updater(log, parts.stateMachine, opened.snapshotIndex, this);
    this.reads = new ReadRequests(parts, () => this.updater.appliedIndex);
    this.#writes.onAppended = (request, index) => this.reads.writeAppended(request, index);
    this.requests = new ClientRequests(parts, {
      writes: this.#writes,
      reads: this.reads,
      watches: this.#watches,
    });
    this.appends = new AppendRequests(parts);
    this.votes = new Votes(parts);
    this.membership = new Membership(parts);
    this.#appenders = new Appenders(parts);
    this.snapshots = new Snapshots(parts, this.updater, opened.snapshotIndex);
    this.installs = new SnapshotInstalls(parts, {
      updater: this.updater,
      truncated: (index) => this.truncated(index),
      generationChanged: (generation) => this.generationChanged(generation),
      skipped: (index) => this.#skipped(index),
      failReads: () => this.reads.failAll(),
    });
    this.snapshots.isRefused = () => this.installs.inProgress;
    this.#runner = new CommandRunner(parts, {
      appends: this.appends,
      appenders: this.#appenders,
      votes: this.votes,
      membership: this.membership,
      reads: this.reads,
      updater: this.updater,
      events: this,
    });
  }

  start(): void {
    const { engine, log, nowMs, commitInfos, selfId, operatorLog } = this.parts;
    const { startIndex, lastIndex } = log;
    const term = engine.currentTerm;
    operatorLog.opened({ term, startIndex, lastIndex, snapshotIndex: this.#snapshotIndex });
    commitInfos.setConfiguration(engine.configuration);
    this.#driver.submit(() => {
      engine.start(nowMs());
      this.updater.setCommitIndex(engine.commitIndex);
      commitInfos.update(selfId, engine.commitIndex);
    });
  }

  /**
   * Ends all work: whoever waits is told, and what is committed is applied (spec: consensus 1.4).
   */
  async stop(isRemoval: boolean): Promise<void> {
    const { engine, nowMs } = this.parts;
    this.#closing = true;
    this.#driver.submit(() => {
      engine.close(nowMs());
    });
    this.#loseOffice();
    this.#appenders.stopAll();
    this.appends.failAll();
    this.votes.failAll();
    this.membership.failAll();
    this.reads.failAll();
    await this.installs.close();
    await new Promise<void>((resolve) => this.updater.finish(resolve));
    this.#driver.close();
    try {
      await this.snapshots.atStop(isRemoval);
    } catch (error) {
      this.parts.logger.log('error', `no snapshot at the stop: ${messageOf(error)}`, { error });
    }
  }

  // What the driver asks.

  flushProposals(): void {
    this.#writes.flushToLog();
  }

  run(command: EngineCommand): void {
    this.#runner.run(command);
  }

  work(nowMs: number): boolean {
    const { engine, log } = this.parts;
    let did = false;
    if (this.#writes.hasProposals) {
      // The engine may append an entry of its own then: appenders must not ask for it before its
      // command is carried out.
      this.#writes.announce(nowMs);
      return true;
    }
    if (this.reads.indices.start(nowMs)) did = true;
    if (this.#appenders.pump(nowMs)) did = true;
    if (this.updater.step()) {
      if (!this.#closing) engine.onApplied(this.updater.appliedIndex, nowMs);
      did = true;
    }
    this.reads.waiters.update(this.updater.appliedIndex, nowMs);
    this.#watches.update(nowMs);
    this.snapshots.update(nowMs);
    if (nowMs >= this.#positionsAtMs) {
      this.#positionsAtMs = nowMs + POSITIONS_INTERVAL_MS;
      log.setPositions({
        appliedIndex: this.updater.appliedIndex,
        snapshotIndex: this.parts.stateMachine.getLatestSnapshot()?.termIndex.index ?? -1,
        followerNextIndices: engine.followers(nowMs).map((follower) => follower.matchIndex + 1),
      });
    }
    return did;
  }

  workAtMs(): number {
    return Math.min(
      this.#appenders.pumpAtMs(),
      this.reads.waiters.deadlineMs,
      this.#watches.deadlineMs,
      this.snapshots.deadlineMs,
    );
  }

  failed(error: Error): void {
    this.#environment.fail(error);
  }

  // What the updater asks.

  nowMs(): number {
    return this.parts.nowMs();
  }

  wake(): void {
    this.#driver.settleLater();
  }

  transactionOf(entry: LogEntry): Transaction {
    return this.#transactions.forApply(entry);
  }

  completed(entry: LogEntry, transaction: Transaction, result: ApplyResult): void {
    const { retryCache, replies, commitInfos } = this.parts;
    const { call } = transaction;
    if (call === undefined) return;
    const outcome: WriteOutcome = {
      logIndex: entry.index,
      message: result.message,
      failure: result.failure === undefined ? undefined : failureOf(replies, result.failure),
      commitInfos: commitInfos.list,
    };
    const nowMs = this.parts.nowMs();
    const waiting = retryCache.complete(call.clientId, call.callId, outcome, nowMs);
    const own = this.#writes.pending.get(entry.term, entry.index);
    if (own === undefined) {
      waiting?.reply(replies.ofOutcome(waiting.request, outcome));
      return;
    }
    this.#writes.applied(own);
    if (own.request !== own.logged) {
      const { clientId, callId } = own.request;
      retryCache.complete(clientId.bytes, callId, outcome, nowMs);
    }
    if (own.isAwaited) own.reply(replies.ofOutcome(own.request, outcome));
    if (waiting !== undefined && waiting !== own) {
      waiting.reply(replies.ofOutcome(waiting.request, outcome));
    }
  }

  configurationApplied(_entry: LogEntry, configuration: RaftConfiguration): void {
    const { storage, fail } = this.parts;
    storage.persistConfiguration(configuration).catch((error) => fail(toError(error)));
  }

  // What commands tell.

  truncated(index: number): void {
    this.#writes.truncate(index);
    this.#transactions.truncate(index);
  }

  /** A snapshot covers entries that are not applied here (spec: H-26). */
  #skipped(index: number): void {
    this.#writes.skip(index);
    this.#transactions.skip(index);
    this.snapshots.installed(index);
  }

  generationChanged(generation: number): void {
    this.#writes.generation = generation;
  }

  roleChanged(command: EngineCommand & { kind: 'roleChanged' }): void {
    // The end of everything has a line of its own.
    if (!this.#closing) {
      this.parts.operatorLog.roleChanged(command.role, command.term, command.stepDownReason);
    }
    this.#loseOffice();
    if (command.role !== RaftPeerRole.LEADER) return;
    this.#wasLeader = true;
    this.#writes.leadershipGained();
  }

  leaderChanged(leaderId: string | undefined): void {
    if (leaderId === undefined) return;
    const { stateMachine, memberId, engine, operatorLog } = this.parts;
    if (leaderId !== this.parts.selfId) operatorLog.follows(leaderId, engine.currentTerm);
    this.#notify(() => stateMachine.events?.notifyLeaderChanged?.(memberId, leaderId));
  }

  leaderReady(): void {
    this.#notify(() => this.parts.stateMachine.events?.notifyLeaderReady?.());
  }

  becameRunning(): void {
    this.parts.logger.log('debug', 'takes part in the group');
  }

  extendedNoLeader(): void {
    const { events } = this.parts.stateMachine;
    this.parts.operatorLog.noLeaderForLong();
    this.#notify(() => events?.notifyExtendedNoLeader?.(roleInfoOf(this.parts)));
  }

  followerSlow(peerId: string): void {
    const { stateMachine, engine } = this.parts;
    const peers = [...engine.configuration.cur.voters, ...engine.configuration.cur.listeners];
    const peer = peers.find((one) => one.id === peerId);
    if (peer === undefined) return;
    const { events } = stateMachine;
    this.#notify(() => events?.notifyFollowerSlowness?.(roleInfoOf(this.parts), peer));
  }

  closeDivision(reason: string): void {
    this.#environment.closeDivision(reason);
  }

  /** Everybody who waits on this leader is told, once (spec: consensus 3.12). */
  #loseOffice(): void {
    if (!this.#wasLeader) return;
    this.#wasLeader = false;
    const { stateMachine, replies, engine, isRunning } = this.parts;
    const transactions = this.#writes.leadershipLost();
    this.#notify(() => stateMachine.events?.notifyNotLeader?.(transactions));
    this.#watches.failAll(replies.notLeader(isRunning(), engine.leaderId, engine.configuration));
    this.requests.leadershipLost();
    this.#environment.leadershipLost();
  }

  /** Tells the state machine of an event; its throw is its own affair. */
  #notify(tell: () => void): void {
    try {
      tell();
    } catch (error) {
      this.parts.logger.log('error', `an event failed: ${messageOf(error)}`, { error });
    }
  }

  #createParts(environment: CoreEnvironment, opened: OpenedDivision): DivisionParts {
    const { selfId, groupId, config, runtime } = environment;
    const commitInfos = new CommitInfos(selfId, { encode: encodePeer, decode: decodePeer });
    const driver = this.#driver;
    return {
      ...environment,
      operatorLog: new OperatorLog(environment.logger),
      storage: opened.storage,
      log: opened.log,
      engine: opened.engine,
      commitInfos,
      retryCache: new RetryCache<PendingWrite>(config.retryCacheExpiryMs),
      replies: new Replies(selfId, groupId, () => commitInfos.list),
      nowMs: () => runtime.clock.nowMs(),
      submit: (input) => driver.submit(input),
      isBusy: () => driver.isBusy,
      settleLater: () => driver.settleLater(),
      isRunning: () => environment.isServing() && opened.engine.lifeCycle === 'running',
    };
  }
}

function failureOf(replies: Replies, error: Error) {
  const { causeClass, causeMessage } = replies.stateMachineException(error);
  return { causeClass, causeMessage };
}
