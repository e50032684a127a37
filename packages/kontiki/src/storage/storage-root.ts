import { hostname } from 'node:os';
import { messageOf } from '../common/errors.js';
import type { Logger } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import type { FileLock, VirtualFileSystem } from '../runtime/vfs/types.js';
import { TEMPORARY_SUFFIX } from './atomic-file.js';
import {
  NoSpaceError,
  StorageLockedError,
  StorageNotFormattedError,
  StorageUnavailableError,
} from './errors.js';
import { joinPath } from './paths.js';
import { META_FILE, readMetadata, writeMetadata } from './raft-meta.js';
import { readConfigurationFile, writeConfigurationFile } from './raft-meta-conf.js';
import { repairSnapshotSwap } from './snapshot-swap.js';
import type { RaftMetadata, RaftStorage, StartupOption } from './types.js';

const LOCK_FILE = 'in_use.lock';
const LOCK_ATTEMPTS = 5;
const LOCK_PAUSE_MS = 1000;
const INITIAL_METADATA: RaftMetadata = { term: 0, votedFor: undefined };

/** Informative only, never parsed (spec: storage 1.6). */
const OWNER = `${process.pid}@${hostname()}`;

type RootState = 'NON_EXISTENT' | 'NO_SPACE' | 'NORMAL' | 'NOT_FORMATTED';

export interface RootOptions {
  readonly rootDirectory: string;
  readonly freeSpaceMinBytes: number;
  readonly fs: VirtualFileSystem;
  readonly runtime: Runtime;
  readonly logger: Logger;
}

/** The storage root of one group on one volume (spec: storage 1-3). */
export class StorageRoot implements RaftStorage {
  readonly rootDirectory: string;
  readonly currentDirectory: string;
  readonly stateMachineDirectory: string;
  readonly temporaryDirectory: string;
  readonly #options: RootOptions;
  readonly #fs: VirtualFileSystem;
  /** Why the directory cannot be used. */
  #cause: unknown;
  #metadata = INITIAL_METADATA;
  #lock: FileLock | undefined;
  #closing: Promise<void> | undefined;
  /** Writes are carried out one after the other. */
  #lastWrite: Promise<void> = Promise.resolve();

  private constructor(options: RootOptions) {
    this.#options = options;
    this.#fs = options.fs;
    this.rootDirectory = options.rootDirectory;
    this.currentDirectory = joinPath(options.rootDirectory, 'current');
    this.stateMachineDirectory = joinPath(options.rootDirectory, 'sm');
    this.temporaryDirectory = joinPath(options.rootDirectory, 'tmp');
  }

  /**
   * Formats or recovers a storage root and holds its lock. On failure the lock is released (spec:
   * storage 1.2).
   */
  static async open(options: RootOptions, startup: StartupOption): Promise<StorageRoot> {
    const root = new StorageRoot(options);
    try {
      if (startup === 'FORMAT') await root.#formatNew();
      else await root.#recover();
      return root;
    } catch (error) {
      await root.close();
      throw error;
    }
  }

  /** Whether another division or process holds the lock of a storage root. */
  static async isOwnedByOther(options: RootOptions): Promise<boolean> {
    const path = joinPath(options.rootDirectory, LOCK_FILE);
    if (!(await options.fs.exists(path))) return false;
    const lock = await options.fs.tryLock(path, OWNER);
    await lock?.release();
    return lock === undefined;
  }

  get metadata(): RaftMetadata {
    return this.#metadata;
  }

  persistMetadata(metadata: RaftMetadata): Promise<void> {
    return this.#inOrder(async () => {
      const { term, votedFor } = this.#metadata;
      if (metadata.term === term && metadata.votedFor === votedFor) return;
      await this.#writeMetadata(metadata);
    });
  }

  readConfiguration(): Promise<RaftConfiguration | undefined> {
    return readConfigurationFile(this.#fs, this.currentDirectory, this.#options.logger);
  }

  persistConfiguration(configuration: RaftConfiguration): Promise<void> {
    return this.#inOrder(() =>
      writeConfigurationFile(this.#fs, this.currentDirectory, configuration, this.#options.logger),
    );
  }

  isHealthy(): Promise<boolean> {
    return this.#fs.exists(joinPath(this.currentDirectory, META_FILE));
  }

  close(): Promise<void> {
    this.#closing ??= this.#lastWrite.then(() => this.#lock?.release());
    return this.#closing;
  }

  #inOrder(write: () => Promise<void>): Promise<void> {
    const done = this.#lastWrite.then(() => {
      if (this.#closing !== undefined) {
        throw new StorageUnavailableError(`${this.rootDirectory} is closed`);
      }
      return write();
    });
    // A failure is the caller's; the next write is tried all the same.
    this.#lastWrite = done.catch(() => undefined);
    return done;
  }

  async #writeMetadata(metadata: RaftMetadata): Promise<void> {
    const wallTimeMs = this.#options.runtime.clock.wallTimeMs();
    const { logger } = this.#options;
    await writeMetadata(this.#fs, this.currentDirectory, metadata, wallTimeMs, logger);
    this.#metadata = metadata;
  }

  async #formatNew(): Promise<void> {
    const state = await this.#analyze(false);
    if (state === 'NON_EXISTENT') throw this.#unusable(state);
    await this.#takeLock();
    await this.#format();
    const after = await this.#analyze(false);
    if (after !== 'NORMAL') throw this.#unusable(after);
  }

  async #recover(): Promise<void> {
    const state = await this.#analyze(true);
    if (state === 'NON_EXISTENT' || state === 'NO_SPACE') throw this.#unusable(state);
    const temporary = joinPath(this.currentDirectory, META_FILE + TEMPORARY_SUFFIX);
    if (await this.#fs.exists(temporary)) await this.#fs.unlink(temporary);
    if (state === 'NORMAL') {
      // A process that was killed behind a rename leaves names that a loss of power would take
      // back, and with them a vote.
      await this.#fs.syncDirectory(this.currentDirectory);
      await repairSnapshotSwap({ storage: this, fs: this.#fs, logger: this.#options.logger });
      this.#metadata = await readMetadata(this.#fs, this.currentDirectory);
      return;
    }
    const hasFiles =
      (await this.#fs.exists(this.currentDirectory)) &&
      (await this.#fs.list(this.currentDirectory)).length > 0;
    if (hasFiles) throw this.#unusable(state);
    await this.#format();
  }

  /** Spec: storage 1.1. */
  async #analyze(takeLock: boolean): Promise<RootState> {
    const { rootDirectory, freeSpaceMinBytes, logger } = this.#options;
    try {
      await this.#fs.mkdir(rootDirectory, { recursive: true });
      const { isDirectory } = await this.#fs.stat(rootDirectory);
      if (!isDirectory || !(await this.#fs.isWritable(rootDirectory))) return 'NON_EXISTENT';
    } catch (error) {
      logger.log('debug', `${rootDirectory} cannot be used`, { error });
      this.#cause = error;
      return 'NON_EXISTENT';
    }
    if (takeLock) await this.#takeLock();
    if ((await this.#fs.freeBytes(rootDirectory)) < freeSpaceMinBytes) return 'NO_SPACE';
    return (await this.isHealthy()) ? 'NORMAL' : 'NOT_FORMATTED';
  }

  #unusable(state: RootState): Error {
    const { rootDirectory, freeSpaceMinBytes } = this.#options;
    switch (state) {
      case 'NO_SPACE':
        return new NoSpaceError(
          `less than ${freeSpaceMinBytes} bytes are free at ${rootDirectory}`,
        );
      case 'NON_EXISTENT':
        return new StorageUnavailableError(
          `${rootDirectory} is no directory that can be written` +
            (this.#cause === undefined ? '' : `: ${messageOf(this.#cause)}`),
          { cause: this.#cause },
        );
      default:
        return new StorageNotFormattedError(
          `${this.currentDirectory} has files, but no ${META_FILE}`,
        );
    }
  }

  async #format(): Promise<void> {
    const fs = this.#fs;
    for (const directory of [this.currentDirectory, this.stateMachineDirectory]) {
      await fs.removeTree(directory);
      await fs.mkdir(directory, { recursive: true });
    }
    await this.#writeMetadata(INITIAL_METADATA);
    await fs.syncDirectory(this.rootDirectory);
    await fs.syncDirectory(joinPath(this.rootDirectory, '..'));
  }

  async #takeLock(): Promise<void> {
    const { timers } = this.#options.runtime;
    const path = joinPath(this.rootDirectory, LOCK_FILE);
    for (let attempt = 1; ; attempt++) {
      this.#lock = await this.#fs.tryLock(path, OWNER);
      if (this.#lock !== undefined) return;
      if (attempt === LOCK_ATTEMPTS) break;
      if (attempt === 1) this.#options.logger.log('warn', `waiting for the lock ${path}`);
      await new Promise<void>((resolve) => {
        timers.schedule(LOCK_PAUSE_MS, resolve);
      });
    }
    throw new StorageLockedError(`${this.rootDirectory} is locked${await this.#ownerText(path)}`);
  }

  async #ownerText(path: string): Promise<string> {
    try {
      const content = new TextDecoder().decode(await this.#fs.readFile(path)).trim();
      return content === '' ? ' by another process' : `, last by ${content}`;
    } catch (error) {
      this.#options.logger.log('debug', `${path} cannot be read`, { error });
      return ' by another process';
    }
  }
}
