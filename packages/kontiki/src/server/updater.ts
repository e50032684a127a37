import { AssertionFailedError, toError } from '../common/errors.js';
import { configurationOf } from '../proto/wire/index.js';
import { EntryKind, type LogEntry } from '../proto/wire/types.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import { StateMachineException } from '../protocol/exceptions.js';
import { StateMachineFailedError } from '../statemachine/errors.js';
import type { StateMachine } from '../statemachine/types.js';
import type { RaftLog } from '../storage/types.js';
import type { Transaction } from './transaction-context.js';

/** How the apply of a write ended: a result, or the application's error. */
export interface ApplyResult {
  readonly message: Uint8Array | undefined;
  readonly failure: Error | undefined;
}

/** What the updater needs of its division. */
export interface UpdaterHooks {
  nowMs(): number;
  /** The context of a state machine entry: the leader's own, or one made when it was appended. */
  transactionOf(entry: LogEntry): Transaction;
  /** A state machine entry was applied: told in order of completion. */
  completed(entry: LogEntry, transaction: Transaction, result: ApplyResult): void;
  /** A configuration entry is applied. */
  configurationApplied(entry: LogEntry, configuration: RaftConfiguration): void;
  /** Call `step` soon, from a fresh turn. */
  wake(): void;
  /** The updater can't go on: the division is to be closed. */
  failed(error: Error): void;
}

/** Entries applied without looking at the clock. */
const STRIDE = 32;
/**
 * Applies in one step take about this long at most: elections and heartbeats go ahead of bulk work
 * (spec: consensus 9).
 */
const STEP_MS = 8;
/** Applies under way at once; above it, the updater waits. */
const OUTSTANDING_MAX = 4096;
const READ_LIMITS = { maxBytes: 4 * 1024 * 1024, maxCount: 1024, withData: false };

/**
 * Applies committed entries in order (spec: consensus 6.3). Calls are made in log order; the
 * futures may finish in any order, and what readers are told is the contiguous prefix (spec: S-2,
 * H-4). Machines that answer synchronously cost no promise.
 */
export class Updater {
  readonly #log: RaftLog;
  readonly #machine: StateMachine;
  readonly #hooks: UpdaterHooks;
  /** Last index that was given to the state machine. */
  #called: number;
  /** Everything up to here is applied. */
  #applied: number;
  /** The applied prefix that `step` announced last. */
  #told: number;
  #commitIndex: number;
  /** Applied above `#applied`, because an earlier one is still under way. */
  readonly #ahead = new Set<number>();
  #outstanding = 0;
  #read: LogEntry[] = [];
  #reading = false;
  readonly #jobs: { readonly job: () => Promise<void>; readonly dropped: () => void }[] = [];
  #jobRuns = false;
  #failed = false;
  readonly #finished: (() => void)[] = [];

  constructor(log: RaftLog, machine: StateMachine, snapshotIndex: number, hooks: UpdaterHooks) {
    this.#log = log;
    this.#machine = machine;
    this.#hooks = hooks;
    this.#called = snapshotIndex;
    this.#applied = snapshotIndex;
    this.#told = snapshotIndex;
    this.#commitIndex = snapshotIndex;
  }

  /** Contiguous prefix that is applied. */
  get appliedIndex(): number {
    return this.#applied;
  }

  get #held(): boolean {
    return this.#jobRuns || this.#jobs.length > 0;
  }

  setCommitIndex(index: number): void {
    if (index > this.#commitIndex) this.#commitIndex = index;
  }

  /**
   * Runs `job` while no apply is under way (spec: S-4), one job at a time; applies go on when it
   * has settled. A job that rejects loses the division. `dropped` is called instead when the
   * updater has failed.
   */
  exclusive(job: () => Promise<void>, dropped: () => void): void {
    this.#jobs.push({ job, dropped });
    this.#hooks.wake();
  }

  /**
   * The state machine was loaded from a snapshot at `index`: applies go on behind it. Only while an
   * exclusive job runs (spec: consensus 5.5).
   */
  reload(index: number): void {
    if (!this.#jobRuns || this.#outstanding > 0) {
      throw new AssertionFailedError('a snapshot is loaded while entries are applied');
    }
    this.#called = index;
    this.#applied = index;
    this.#told = index;
    this.#ahead.clear();
    this.#read = [];
    this.setCommitIndex(index);
  }

  /**
   * Applies everything up to the commit index of now, then calls back; at once when the updater
   * failed.
   */
  finish(done: () => void): void {
    this.#finished.push(done);
    this.#hooks.wake();
  }

  /** Applies what it can. True when the applied prefix grew since the last step. */
  step(): boolean {
    if (!this.#failed) {
      try {
        this.#applyAll();
      } catch (error) {
        this.#failed = true;
        this.#hooks.failed(toError(error));
      }
    }
    this.#tellIdle();
    if (this.#applied === this.#told) return false;
    this.#told = this.#applied;
    return true;
  }

  #applyAll(): void {
    const untilMs = this.#hooks.nowMs() + STEP_MS;
    let count = 0;
    while (this.#called < this.#commitIndex && !this.#held) {
      if (this.#outstanding >= OUTSTANDING_MAX) return;
      if (++count % STRIDE === 0 && this.#hooks.nowMs() >= untilMs) {
        this.#hooks.wake();
        return;
      }
      const entry = this.#next();
      if (entry === undefined) return;
      this.#called = entry.index;
      this.#apply(entry);
    }
  }

  #next(): LogEntry | undefined {
    const index = this.#called + 1;
    const cached = this.#log.getCached(index);
    if (cached !== undefined) return cached;
    while (this.#read.length > 0) {
      const entry = this.#read.shift();
      if (entry?.index === index) return entry;
    }
    if (this.#reading) return undefined;
    const entries = this.#log.read(index, this.#commitIndex, READ_LIMITS);
    if (Array.isArray(entries)) {
      this.#read = entries;
      return this.#read.shift();
    }
    this.#readLater(entries);
    return undefined;
  }

  #readLater(entries: Promise<LogEntry[]>): void {
    this.#reading = true;
    entries.then(
      (read) => {
        this.#reading = false;
        this.#read = read;
        this.#hooks.wake();
      },
      (error) => {
        this.#failed = true;
        this.#hooks.failed(toError(error));
        this.#hooks.wake();
      },
    );
  }

  #apply(entry: LogEntry): void {
    if (entry.kind === EntryKind.STATE_MACHINE) {
      this.#applyWrite(entry);
      return;
    }
    if (entry.kind === EntryKind.CONFIGURATION) {
      const configuration = configurationOf(entry);
      this.#hooks.configurationApplied(entry, configuration);
      this.#machine.events?.notifyConfigurationChanged?.(entry.term, entry.index, configuration);
    }
    this.#machine.events?.notifyTermIndexUpdated?.(entry.term, entry.index);
    this.#done(entry.index);
  }

  #applyWrite(entry: LogEntry): void {
    const transaction = this.#hooks.transactionOf(entry);
    this.#machine.applyTransactionSerial(transaction);
    let result: Promise<Uint8Array | undefined> | Uint8Array | undefined;
    try {
      result = this.#machine.applyTransaction(transaction);
    } catch (error) {
      if (!isOfApplication(error)) {
        throw new StateMachineFailedError(entry.index, error);
      }
      this.#complete(entry, transaction, { message: undefined, failure: error });
      return;
    }
    if (result === undefined || result instanceof Uint8Array) {
      this.#complete(entry, transaction, { message: result, failure: undefined });
      return;
    }
    this.#outstanding++;
    result.then(
      (message) => this.#completeLater(entry, transaction, { message, failure: undefined }),
      (error) =>
        this.#completeLater(entry, transaction, { message: undefined, failure: toError(error) }),
    );
  }

  #completeLater(entry: LogEntry, transaction: Transaction, result: ApplyResult): void {
    this.#outstanding--;
    try {
      this.#complete(entry, transaction, result);
    } catch (error) {
      this.#failed = true;
      this.#hooks.failed(toError(error));
    }
    this.#hooks.wake();
  }

  #complete(entry: LogEntry, transaction: Transaction, result: ApplyResult): void {
    this.#done(entry.index);
    this.#hooks.completed(entry, transaction, result);
  }

  #done(index: number): void {
    if (index !== this.#applied + 1) {
      if (index <= this.#applied || this.#ahead.has(index)) {
        throw new AssertionFailedError(`entry ${index} was applied twice`);
      }
      this.#ahead.add(index);
      return;
    }
    this.#applied = index;
    while (this.#ahead.size > 0 && this.#ahead.delete(this.#applied + 1)) this.#applied++;
  }

  #tellIdle(): void {
    if (this.#failed) {
      for (const { dropped } of this.#jobs.splice(0)) dropped();
      for (const done of this.#finished.splice(0)) done();
      return;
    }
    if (this.#outstanding > 0) return;
    if (!this.#jobRuns && !this.#reading) this.#startJob();
    if (this.#held || this.#applied < this.#commitIndex) return;
    for (const done of this.#finished.splice(0)) done();
  }

  #startJob(): void {
    const next = this.#jobs.shift();
    if (next === undefined) return;
    this.#jobRuns = true;
    next.job().then(
      () => this.#jobDone(undefined),
      (error) => this.#jobDone(toError(error)),
    );
  }

  #jobDone(error: Error | undefined): void {
    this.#jobRuns = false;
    if (error !== undefined) {
      this.#failed = true;
      this.#hooks.failed(error);
    }
    this.#hooks.wake();
  }
}

/**
 * The class may come from another copy of this package: a module that the command loads has the one
 * of its own `node_modules`.
 */
function isOfApplication(error: unknown): error is Error {
  if (error instanceof StateMachineException) return true;
  return error instanceof Error && (error as { code?: unknown }).code === 'RAFT_STATE_MACHINE';
}
