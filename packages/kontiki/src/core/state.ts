import { assert } from '../common/errors.js';
import { type Random, randomInteger } from '../common/runtime.js';
import { EntryKind } from '../proto/wire/types.js';
import type { RaftPeerId } from '../protocol/ids.js';
import { RaftPeerRole } from '../protocol/peer.js';
import type { Ballot } from './ballot.js';
import { Configurations } from './configurations.js';
import type { FollowerTimer } from './follower-timer.js';
import { HeldAppends } from './held-appends.js';
import type { LeaderState } from './leader-state.js';
import { LogView } from './log-view.js';
import { MetadataEntries } from './metadata-entries.js';
import type { FollowerRecord } from './progress.js';
import { settleTransfer, type Transfer } from './transfer-state.js';
import type {
  EngineCommand,
  EngineConfig,
  EngineState,
  LeaderCheck,
  StepDownReason,
} from './types.js';

/** A candidate's current round of vote requests (spec: consensus 2.3). */
export interface Election {
  readonly id: number;
  readonly phase: 'preVote' | 'election';
  readonly term: number;
  readonly forced: boolean;
  readonly ballot: Ballot;
  /**
   * Metadata that has to be durable before the requests leave (spec: A-2); undefined once they have
   * left.
   */
  awaiting: number | undefined;
  /** Infinity until the requests have left. */
  deadlineMs: number;
}

export interface StepOptions {
  /** Start a fresh timer even if the server is a follower already (spec: consensus 2.5 step C). */
  readonly freshTimer?: boolean;
  /** Why a leader loses its office. */
  readonly reason?: StepDownReason;
}

/** Changes of role, which every concern may ask for. Made in `roles.ts`. */
export interface RoleChanges {
  /**
   * To follower (or listener, as the configuration says) at a term that is not below the current
   * one (spec: consensus 2.7).
   */
  stepToFollower(newTerm: number, options?: StepOptions): void;
  becomeCandidate(forced: boolean): void;
  becomeLeader(): void;
  /** Derives the role of a server without office from what is known (spec: H-6). */
  followConfiguration(): void;
  /** Another configuration is in force: tells the driver and derives the role (spec: C-1, H-6). */
  configurationChanged(): void;
}

type Held = { readonly sequence: number; readonly command: EngineCommand };

/**
 * The state that all concerns of the engine share (spec: consensus 0.2), and the list of commands
 * they write.
 */
export class CoreState {
  readonly selfId: RaftPeerId;
  readonly config: EngineConfig;
  readonly random: Random;
  readonly roles: RoleChanges;
  readonly log: LogView;
  readonly configurations: Configurations;
  readonly metadataEntries = new MetadataEntries();
  readonly appends = new HeldAppends();
  nowMs: number;
  term: number;
  votedFor: RaftPeerId | undefined;
  leaderId: RaftPeerId | undefined;
  noLeaderSinceMs: number;
  role: RaftPeerRole = RaftPeerRole.FOLLOWER;
  roleSinceMs: number;
  started = false;
  lifeCycle: 'starting' | 'running' | 'closed' = 'starting';
  commitIndex: number;
  appliedIndex: number;
  flushIndex: number;
  /** What leaders have proven to be committed; it is followed as far as the log is durable. */
  provenCommit: number;
  lastMetadataCommitIndex: number;
  /** Counts the truncations. */
  generation = 0;
  /** The state machine is being replaced by a leader's snapshot: no entries are taken. */
  installing = false;
  /** Set when the log failed: nothing more is accepted. */
  logFailure: string | undefined;
  /** The first election since start uses its own time-outs (spec: E-1). */
  firstElection = true;
  timer: FollowerTimer | undefined;
  election: Election | undefined;
  leader: LeaderState | undefined;
  /** While it is pending nothing may be answered under a lease (spec: consensus 2.9 step 2). */
  transfer: Transfer | undefined;
  /** No election is started (spec: H-12). */
  electionsPaused = false;
  /** A leader spoke last although no configuration named this server yet: it is being added. */
  isStaged = false;
  /** When a leader was heard last, before there is a timer. */
  leaderHeardMs = Number.NEGATIVE_INFINITY;
  nextElectionId = 1;
  nextTransferId = 1;
  nextEpoch = 1;
  private commands: EngineCommand[] = [];
  private held: Held[] = [];
  private issuedSequence = 0;
  private persistedSequence = 0;
  private metadataSlot = -1;
  private toldCommit = -1;

  constructor(
    options: {
      selfId: RaftPeerId;
      config: EngineConfig;
      state: EngineState;
      random: Random;
      nowMs: number;
    },
    roles: (state: CoreState) => RoleChanges,
  ) {
    const { state, nowMs } = options;
    this.selfId = options.selfId;
    this.config = options.config;
    this.random = options.random;
    this.roles = roles(this);
    this.nowMs = nowMs;
    this.noLeaderSinceMs = nowMs;
    this.roleSinceMs = nowMs;
    this.term = state.term;
    // An empty name is what Java stores for "nobody" (spec: H-16).
    this.votedFor = state.votedFor === '' ? undefined : state.votedFor;
    this.log = new LogView(state);
    this.configurations = new Configurations(state.configurations);
    // The log was written under a term that never became durable: no vote of that term left this
    // server.
    const logTerm = this.log.lastEntry?.term ?? 0;
    if (logTerm > this.term) {
      this.term = logTerm;
      this.votedFor = undefined;
      this.persistMetadata();
    }
    this.appliedIndex = this.log.snapshotIndex;
    this.flushIndex = this.log.lastIndex;
    this.commitIndex = Math.min(
      Math.max(state.commitIndex, this.log.snapshotIndex),
      this.log.lastIndex,
    );
    this.provenCommit = this.commitIndex;
    this.toldCommit = this.appliedIndex;
    this.lastMetadataCommitIndex = state.lastMetadataCommitIndex;
    for (
      let i = Math.max(this.commitIndex + 1, this.log.startIndex);
      i <= this.log.lastIndex;
      i++
    ) {
      if (state.kindAt(i) === EntryKind.METADATA) this.metadataEntries.add(i);
    }
  }

  /** Next index by log and snapshot (spec: consensus 0.2). */
  get nextIndex(): number {
    return Math.max(this.log.nextIndex, this.log.snapshotIndex + 1);
  }

  /** Indices up to here can't be replaced any more (spec: consensus 3.5 check 4). */
  get settledIndex(): number {
    return Math.max(this.log.snapshotIndex, this.commitIndex);
  }

  emit(command: EngineCommand): void {
    this.commands.push(command);
  }

  /** Emits when term and vote as they are now are durable (spec: A-2, I-3). */
  emitWhenPersisted(command: EngineCommand): void {
    if (this.pendingMetadata === undefined) this.commands.push(command);
    else this.held.push({ sequence: this.issuedSequence, command });
  }

  /** Number of the newest metadata that is not known to be durable. */
  get pendingMetadata(): number | undefined {
    return this.issuedSequence === this.persistedSequence ? undefined : this.issuedSequence;
  }

  /** Has term and vote written; several changes in one call are written once. */
  persistMetadata(): void {
    const fresh = this.metadataSlot < 0;
    if (fresh) {
      this.metadataSlot = this.commands.length;
      this.issuedSequence++;
    }
    this.commands[this.metadataSlot] = {
      kind: 'persistMetadata',
      term: this.term,
      votedFor: this.votedFor,
      sequence: this.issuedSequence,
    };
  }

  metadataPersisted(sequence: number): void {
    assert(sequence <= this.issuedSequence, `metadata ${sequence} was never written`);
    if (sequence <= this.persistedSequence) return;
    this.persistedSequence = sequence;
    let released = 0;
    for (; released < this.held.length; released++) {
      const { sequence: needed, command } = this.held[released] as Held;
      if (needed > sequence) break;
      this.commands.push(command);
    }
    this.held.splice(0, released);
  }

  /** Requests whose answers still wait for metadata, for a server that closes. */
  takeHeldCommands(): EngineCommand[] {
    return this.held.splice(0).map((held) => held.command);
  }

  /** Raises the term and forgets the vote and leader of the old one (spec: consensus 2.7). */
  raiseTerm(newTerm: number): void {
    assert(newTerm >= this.term, `term ${newTerm} is below ${this.term}`);
    if (newTerm === this.term) return;
    this.term = newTerm;
    this.votedFor = undefined;
    this.persistMetadata();
    this.setLeader(undefined);
  }

  setLeader(leaderId: RaftPeerId | undefined): void {
    if (leaderId === this.leaderId) return;
    this.leaderId = leaderId;
    if (leaderId === undefined) this.noLeaderSinceMs = this.nowMs;
    else this.firstElection = false;
    this.emit({ kind: 'leaderChanged', leaderId });
    if (leaderId !== undefined) settleTransfer(this, leaderId);
  }

  /** Whether requests are taken (spec: consensus 7.1). */
  leaderCheck(readOnly: boolean): LeaderCheck {
    const { leader } = this;
    if (leader === undefined) return 'notLeader';
    if (!leader.ready) return 'notReady';
    const leaves = this.transfer !== undefined || leader.leaveAtMs !== Number.POSITIVE_INFINITY;
    return leaves && !readOnly ? 'steppingDown' : 'ok';
  }

  setRole(role: RaftPeerRole, stepDownReason: StepDownReason | undefined): void {
    this.role = role;
    this.roleSinceMs = this.nowMs;
    this.tellCommit();
    this.emit({ kind: 'roleChanged', role, term: this.term, stepDownReason });
  }

  /** One election time-out, drawn anew (spec: E-1). */
  drawTimeoutMs(): number {
    const { config } = this;
    return this.firstElection
      ? randomInteger(
          this.random,
          config.firstElectionTimeoutMinMs,
          config.firstElectionTimeoutMaxMs,
        )
      : randomInteger(this.random, config.rpcTimeoutMinMs, config.rpcTimeoutMaxMs);
  }

  /**
   * A follower commits what is proven and durable here (spec: consensus 3.5); a leader counts by
   * itself (spec: I-9).
   */
  followCommit(): void {
    if (this.leader !== undefined) return;
    const commit = Math.min(this.provenCommit, this.flushIndex);
    if (commit <= this.commitIndex) return;
    this.metadataEntries.takeLastOther(this.commitIndex, commit);
    this.commitIndex = commit;
    this.configurations.settle(commit);
    this.roles.followConfiguration();
  }

  wake(record: FollowerRecord): void {
    record.wakePending = true;
    if (this.leader !== undefined) this.leader.wakeWanted = true;
  }

  wakeAll(): void {
    if (this.leader === undefined) return;
    for (const record of this.leader.records.values()) record.wakePending = true;
    this.leader.wakeWanted = true;
  }

  /** Hands over the commands; commits and wake-ups of the whole turn are told once. */
  takeCommands(): EngineCommand[] {
    this.tellCommit();
    if (this.leader?.wakeWanted) {
      this.leader.wakeWanted = false;
      for (const record of this.leader.records.values()) {
        if (record.wakePending) this.emit({ kind: 'wakeAppender', peerId: record.peerId });
        record.wakePending = false;
      }
    }
    const { commands } = this;
    this.commands = [];
    this.metadataSlot = -1;
    return commands;
  }

  private tellCommit(): void {
    if (this.commitIndex <= this.toldCommit) return;
    this.toldCommit = this.commitIndex;
    this.emit({ kind: 'commit', commitIndex: this.commitIndex });
  }
}
