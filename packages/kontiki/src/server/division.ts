import { messageOf, toError } from '../common/errors.js';
import { type Logger, withPrefix } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import type { VoteReply, VoteRequest } from '../core/types.js';
import type { AppendEntriesRequestMessage } from '../proto/wire/types.js';
import { allPeers, type RaftConfiguration } from '../protocol/configuration.js';
import { ServerNotReadyException } from '../protocol/exceptions.js';
import type { RaftGroup } from '../protocol/group.js';
import { memberIdText, type RaftGroupId, type RaftPeerId } from '../protocol/ids.js';
import { type RaftPeer, RaftPeerRole } from '../protocol/peer.js';
import type {
  CommitInfo,
  LogInfo,
  RaftClientReply,
  RaftClientRequest,
  RoleInfo,
} from '../protocol/requests.js';
import type { InstallSnapshotRequest } from '../protocol/server-messages.js';
import type { TermIndex } from '../protocol/term-index.js';
import type {
  AppendSink,
  InstallSnapshotAnswer,
  Outcome,
  ReplySink,
} from '../rpc/ratis/server/handler.js';
import type { PeerStubs } from '../rpc/ratis/server/peer-stubs.js';
import type { VirtualFileSystem } from '../runtime/index.js';
import type { StateMachine } from '../statemachine/types.js';
import { RaftLogIOException } from '../storage/index.js';
import type { RaftLogListener, StartupOption } from '../storage/types.js';
import { DivisionCore } from './division-core.js';
import { type OpenedDivision, openDivision } from './division-open.js';
import type { Membership } from './membership.js';
import { logInfoOf, roleInfoOf } from './role-info.js';
import type { Scheduler } from './scheduler.js';
import type { ServerConfig } from './server-config.js';

/** States of a division (spec: consensus 1.1). */
export type LifeCycleState = 'NEW' | 'STARTING' | 'RUNNING' | 'EXCEPTION' | 'CLOSING' | 'CLOSED';

/** What a division gets from its server. */
export interface DivisionOptions {
  readonly selfId: RaftPeerId;
  readonly group: RaftGroup;
  readonly startupOption: StartupOption;
  readonly stateMachine: StateMachine;
  readonly config: ServerConfig;
  readonly fileSystem: VirtualFileSystem;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly scheduler: Scheduler;
  stubsOf(peer: RaftPeer): PeerStubs | undefined;
  /** The leader lost its office. */
  leadershipLost(groupId: RaftGroupId): void;
}

/** One server in one group. */
export class Division {
  readonly groupId: RaftGroupId;
  /** `peer@group`. */
  readonly memberId: string;
  readonly stateMachine: StateMachine;
  readonly #options: DivisionOptions;
  readonly #logger: Logger;
  #state: LifeCycleState = 'NEW';
  #opened: OpenedDivision | undefined;
  #core: DivisionCore | undefined;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  #failure: Error | undefined;

  constructor(options: DivisionOptions) {
    this.#options = options;
    this.groupId = options.group.groupId;
    this.memberId = memberIdText(options.selfId, this.groupId);
    this.stateMachine = options.stateMachine;
    this.#logger = withPrefix(options.logger, this.memberId);
  }

  get lifeCycleState(): LifeCycleState {
    const isStarting = this.#core?.parts.engine.lifeCycle === 'starting';
    return this.#state === 'RUNNING' && isStarting ? 'STARTING' : this.#state;
  }

  /** Why the division closed itself, if it did. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  get role(): RaftPeerRole {
    return this.#core?.parts.engine.role ?? RaftPeerRole.FOLLOWER;
  }

  get isLeader(): boolean {
    return this.role === RaftPeerRole.LEADER;
  }

  /** Leader that has applied the first entry of its term (spec: L-2). */
  get isLeaderReady(): boolean {
    return this.#core?.parts.engine.leaderCheck(true) === 'ok';
  }

  get currentTerm(): number {
    return this.#core?.parts.engine.currentTerm ?? 0;
  }

  get leaderId(): RaftPeerId | undefined {
    return this.#core?.parts.engine.leaderId;
  }

  get commitIndex(): number {
    return this.#core?.parts.engine.commitIndex ?? -1;
  }

  /** Everything up to here is applied. */
  get appliedIndex(): number {
    return this.#core?.updater.appliedIndex ?? -1;
  }

  get configuration(): RaftConfiguration | undefined {
    return this.#core?.parts.engine.configuration;
  }

  /** All voters and listeners, current and old. */
  get group(): RaftGroup {
    const { configuration } = this;
    const peers = configuration === undefined ? this.#options.group.peers : allPeers(configuration);
    return { groupId: this.groupId, peers };
  }

  get commitInfos(): readonly CommitInfo[] {
    return this.#core?.parts.commitInfos.list ?? [];
  }

  get retryCacheStatistics() {
    return this.#core?.parts.retryCache.statistics ?? { size: 0, hits: 0, misses: 0 };
  }

  /** Throws ServerNotReadyException before the start. */
  get roleInfo(): RoleInfo {
    return roleInfoOf(this.#running().parts);
  }

  /** Throws ServerNotReadyException before the start. */
  get logInfo(): LogInfo {
    return logInfoOf(this.#running().parts);
  }

  /** `<volume>/<group uuid>`, once it is open. */
  get storageDirectory(): string | undefined {
    return this.#opened?.storage.rootDirectory;
  }

  isStorageHealthy(): Promise<boolean> {
    return this.#opened?.storage.isHealthy() ?? Promise.resolve(false);
  }

  /**
   * Opens what is on disk and takes part in the group. Rejects when that fails; everything is
   * closed again then.
   */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    if (this.#state !== 'NEW') return;
    this.#state = 'STARTING';
    try {
      this.#opened = await openDivision({ ...this.#options, ...this.#openHooks() });
    } catch (error) {
      this.#state = 'CLOSED';
      throw error;
    }
    if (this.#closing !== undefined) return;
    this.#core = new DivisionCore(this.#environment(), this.#opened);
    this.#state = 'RUNNING';
    this.#core.start();
  }

  /**
   * Carries a client's request out, without a socket. Rejects with errors that no reply can tell
   * (spec: consensus 7.9).
   */
  submitClientRequest(request: RaftClientRequest): Promise<RaftClientReply> {
    return new Promise((resolve, reject) => {
      this.submit(request, { onReply: resolve, onFailure: reject });
    });
  }

  submit(request: RaftClientRequest, sink: ReplySink): void {
    if (this.#core === undefined) sink.onFailure(this.#notReady());
    else this.#core.requests.submit(request, sink);
  }

  appendEntries(request: AppendEntriesRequestMessage, sink: AppendSink): void {
    if (this.#core === undefined || this.#state !== 'RUNNING') sink.onFailure(this.#notReady());
    else this.#core.appends.submit(request, sink);
  }

  requestVote(request: VoteRequest, done: Outcome<VoteReply>): void {
    if (this.#core === undefined || this.#state !== 'RUNNING') done(this.#notReady(), undefined);
    else this.#core.votes.onRequest(request, done);
  }

  installSnapshot(request: InstallSnapshotRequest, done: Outcome<InstallSnapshotAnswer>): void {
    if (this.#core === undefined || this.#state !== 'RUNNING') done(this.#notReady(), undefined);
    else this.#core.installs.submit(request, done);
  }

  readIndex(request: RaftClientRequest, done: Outcome<number>): void {
    const core = this.#core;
    if (core === undefined || !core.parts.isRunning()) done(this.#notReady(), undefined);
    else core.parts.submit(() => core.reads.serveReadIndex(request, done));
  }

  startLeaderElection(
    leaderId: RaftPeerId,
    leaderLastEntry: TermIndex | undefined,
    done: Outcome<boolean>,
  ): void {
    if (this.#core === undefined) done(this.#notReady(), undefined);
    else this.#core.membership.onInvitation(leaderId, leaderLastEntry, done);
  }

  /** Changes of members and leader. Throws ServerNotReadyException before the start. */
  get membership(): Membership {
    return this.#running().membership;
  }

  /** A leader gives up its office, because its process stood still (spec: consensus 1.7). */
  stepDownAfterPause(): void {
    const parts = this.#core?.parts;
    if (this.isLeader) parts?.submit(() => parts.engine.stepDown('JVM_PAUSE', parts.nowMs()));
  }

  /** Takes a snapshot now, or names the one that is new enough (spec: consensus 5.2). */
  takeSnapshot(creationGap: number, timeoutMs: number): Promise<number> {
    return new Promise((resolve, reject) => {
      const core = this.#core;
      if (core === undefined || !core.parts.isRunning()) {
        reject(this.#notReady());
        return;
      }
      core.parts.submit(() =>
        core.snapshots.request(creationGap, timeoutMs, (index, error) => {
          if (index === undefined) reject(error ?? this.#notReady());
          else resolve(index);
        }),
      );
    });
  }

  /**
   * Applies what is committed, then closes state machine, log and storage (spec: consensus 1.4).
   * Idempotent; never rejects. `isRemoval` when the server is to host the group no longer.
   */
  close(isRemoval = false): Promise<void> {
    this.#closing ??= this.#close(isRemoval);
    return this.#closing;
  }

  async #close(isRemoval: boolean): Promise<void> {
    const wasFailed = this.#state === 'EXCEPTION';
    this.#state = 'CLOSING';
    // What is being opened can only be closed once it is open; whoever started it hears of a
    // failure.
    await this.#starting?.catch(() => undefined);
    const opened = this.#opened;
    const core = this.#core;
    if (core !== undefined) await this.#step('stop', () => core.stop(isRemoval));
    if (opened !== undefined) {
      await this.#step('close the state machine', () => this.stateMachine.close());
      await this.#step('close the log', () => opened.log.close(), wasFailed);
      await this.#step('unlock the storage', () => opened.storage.close());
      this.#logger.log('info', 'closed');
    }
    this.#state = 'CLOSED';
  }

  /** A failed step is logged and does not stop the rest (spec: consensus 1.4). */
  async #step(what: string, action: () => Promise<void> | void, expected = false): Promise<void> {
    try {
      await action();
    } catch (error) {
      const level = expected ? 'debug' : 'error';
      this.#logger.log(level, `failed to ${what}: ${messageOf(error)}`, { error: toError(error) });
    }
  }

  /**
   * A broken invariant, a failed log, a throwing state machine: the division is lost, others live
   * on (design: section 2).
   */
  #fail(error: Error): void {
    if (this.#failure !== undefined || this.#closing !== undefined) return;
    this.#failure = error;
    this.#state = 'EXCEPTION';
    this.#logger.log('error', `closing after a failure: ${messageOf(error)}`, { error });
    this.#closeSoon();
  }

  #closeSoon(): void {
    this.#options.runtime.timers.enqueue(() => void this.close());
  }

  #openHooks() {
    const { options, listener } = { options: this.#options, listener: this.#logListener() };
    return { logger: this.#logger, logListener: listener, selfId: options.selfId };
  }

  #logListener(): RaftLogListener {
    return {
      onFlushed: (flushed, generation) => {
        const parts = this.#core?.parts;
        parts?.submit(() => parts.engine.onLogFlushed(flushed, generation, parts.nowMs()));
      },
      onFailed: (error, entry) => {
        const parts = this.#core?.parts;
        parts?.submit(() => parts.engine.onLogFailed(error.message, parts.nowMs()));
        this.stateMachine.events?.notifyLogFailed?.(error, entry);
        this.#fail(error instanceof RaftLogIOException ? error : toError(error));
      },
    };
  }

  #environment() {
    const { selfId, config, fileSystem, runtime, scheduler, stubsOf } = this.#options;
    return {
      selfId,
      groupId: this.groupId,
      memberId: this.memberId,
      config,
      fileSystem,
      runtime,
      scheduler,
      stubsOf,
      logger: this.#logger,
      stateMachine: this.stateMachine,
      fail: (error: Error) => this.#fail(error),
      leadershipLost: () => this.#options.leadershipLost(this.groupId),
      closeDivision: (reason: string) => this.#leave(reason),
      isServing: () => this.#state === 'RUNNING',
    };
  }

  /** This server left the group. */
  #leave(reason: string): void {
    this.#logger.log('warn', `this server left the group: ${reason}`);
    const parts = this.#core?.parts;
    if (parts !== undefined) {
      this.stateMachine.events?.notifyServerShutdown?.(roleInfoOf(parts), false);
    }
    this.#closeSoon();
  }

  #running(): DivisionCore {
    if (this.#core === undefined) throw this.#notReady();
    return this.#core;
  }

  #notReady(): ServerNotReadyException {
    return new ServerNotReadyException(`${this.memberId} is in ${this.lifeCycleState} state`);
  }
}
