import type { Logger } from '../common/logger.js';
import { NULL_LOGGER } from '../common/logger.js';
import type { StateMachineBody } from '../proto/wire/types.js';
import { StaleReadException } from '../protocol/exceptions.js';
import { INITIAL_TERM_INDEX, type TermIndex } from '../protocol/term-index.js';
import { nodeFileSystem } from '../runtime/vfs/node-file-system.js';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';
import type { RaftStorage } from '../storage/types.js';
import { SnapshotNotSupportedError, StateMachineNotInitializedError } from './errors.js';
import { SimpleSnapshotStorage, type SnapshotContent } from './simple-snapshot-storage.js';
import type {
  SnapshotInfo,
  StateMachine,
  StateMachineDataApi,
  StateMachineEvents,
  StateMachineServer,
  TransactionContext,
} from './types.js';

export interface BaseStateMachineOptions {
  /** Default: the file system of the machine. */
  readonly fs?: VirtualFileSystem;
  readonly logger?: Logger;
}

/**
 * A state machine with defaults for everything but `applyTransaction` and `query`. With snapshots
 * it needs two methods more: `takeSnapshot`, which hands the state to `saveSnapshot`, and
 * `restore`, which gets it back.
 *
 * It keeps track of what was applied by itself. To hear of events, declare the `notify...` methods
 * of StateMachineEvents; one that overrides `notifyTermIndexUpdated` or `applyTransactionSerial`
 * calls the one here too.
 */
export abstract class BaseStateMachine implements StateMachine, StateMachineEvents {
  protected readonly fs: VirtualFileSystem;
  protected readonly logger: Logger;
  #lastApplied: TermIndex = INITIAL_TERM_INDEX;
  #server: StateMachineServer | undefined;
  #snapshots: SimpleSnapshotStorage | undefined;

  constructor(options: BaseStateMachineOptions = {}) {
    this.fs = options.fs ?? nodeFileSystem();
    this.logger = options.logger ?? NULL_LOGGER;
  }

  abstract applyTransaction(
    context: TransactionContext,
  ): Promise<Uint8Array | undefined> | Uint8Array | undefined;

  abstract query(message: Uint8Array): Promise<Uint8Array> | Uint8Array;

  /** None: all data goes through the log. */
  get dataApi(): StateMachineDataApi | undefined {
    return undefined;
  }

  /** The machine itself. */
  get events(): StateMachineEvents {
    return this;
  }

  get lastAppliedTermIndex(): TermIndex {
    return this.#lastApplied;
  }

  /**
   * The server that runs this machine. Throws StateMachineNotInitializedError before `initialize`.
   */
  protected get server(): StateMachineServer {
    if (this.#server === undefined) throw notInitialized();
    return this.#server;
  }

  /** Snapshot files of this machine. Throws StateMachineNotInitializedError before `initialize`. */
  protected get snapshots(): SimpleSnapshotStorage {
    if (this.#snapshots === undefined) throw notInitialized();
    return this.#snapshots;
  }

  /** Loads the latest snapshot. Rejects with StorageCorruptedError when its MD5 does not fit. */
  async initialize(server: StateMachineServer, storage: RaftStorage): Promise<void> {
    this.#server = server;
    this.#snapshots = new SimpleSnapshotStorage(storage.stateMachineDirectory, {
      fs: this.fs,
      logger: this.logger,
    });
    await this.#load();
  }

  pause(): Promise<void> | void {}

  /** Loads the newest snapshot on disk, in place of the present state. */
  async reinitialize(): Promise<void> {
    this.#lastApplied = INITIAL_TERM_INDEX;
    await this.#load();
  }

  close(): Promise<void> | void {}

  /** Writes no snapshot; override it to call `saveSnapshot`. */
  takeSnapshot(): Promise<number> | number {
    return -1;
  }

  getLatestSnapshot(): SnapshotInfo | undefined {
    return this.#snapshots?.latest;
  }

  async cleanupOldSnapshots(retentionCount: number): Promise<void> {
    await this.#snapshots?.cleanup(retentionCount);
  }

  /** Like `query`, once `minIndex` is applied; before that it fails with StaleReadException. */
  queryStale(message: Uint8Array, minIndex: number): Promise<Uint8Array> | Uint8Array {
    const { index } = this.#lastApplied;
    if (index < minIndex) {
      throw new StaleReadException(
        `Unable to serve stale-read due to last applied index = ${index} < min = ${minIndex}`,
      );
    }
    return this.query(message);
  }

  startTransaction(_context: TransactionContext): Promise<void> | void {}

  preAppendTransaction(_context: TransactionContext): void {}

  cancelTransaction(_context: TransactionContext): void {}

  applyTransactionSerial(context: TransactionContext): void {
    const entry = context.logEntry;
    if (entry !== undefined) this.notifyTermIndexUpdated(entry.term, entry.index);
  }

  notifyTermIndexUpdated(term: number, index: number): void {
    if (index > this.#lastApplied.index) this.#lastApplied = { term, index };
  }

  toStateMachineLogEntryString(body: StateMachineBody): string {
    return `${body.logData.length} bytes`;
  }

  /**
   * Writes the state after everything applied, and returns its index for `takeSnapshot`; -1 when
   * nothing was applied. The content must be complete before the next apply: build it without
   * awaiting, or from a copy.
   */
  protected async saveSnapshot(content: Uint8Array | SnapshotContent): Promise<number> {
    const termIndex = this.#lastApplied;
    if (termIndex.index < 0) return -1;
    if (this.snapshots.latest?.termIndex.index !== termIndex.index) {
      await this.snapshots.save(termIndex, content instanceof Uint8Array ? [content] : content);
    }
    return termIndex.index;
  }

  /**
   * Reads a snapshot from its file. The default takes it as one piece and hands it to `restore`.
   */
  protected async loadSnapshot(snapshot: SnapshotInfo): Promise<void> {
    const file = snapshot.files[0];
    if (file !== undefined) await this.restore(await this.snapshots.read(file));
  }

  /** Replaces the state by what `saveSnapshot` was given. */
  protected restore(_content: Uint8Array): Promise<void> | void {
    throw new SnapshotNotSupportedError(
      `${this.constructor.name} has a snapshot on disk, but no restore method to read it`,
    );
  }

  async #load(): Promise<void> {
    const snapshot = await this.snapshots.loadLatest();
    if (snapshot === undefined) return;
    await this.loadSnapshot(snapshot);
    this.#lastApplied = snapshot.termIndex;
  }
}

function notInitialized(): StateMachineNotInitializedError {
  return new StateMachineNotInitializedError('the state machine is not initialized yet');
}
