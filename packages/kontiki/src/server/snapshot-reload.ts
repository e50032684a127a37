import { AssertionFailedError, toError } from '../common/errors.js';
import { AlreadyClosedException } from '../protocol/exceptions.js';
import type { TermIndex } from '../protocol/term-index.js';
import { swapSnapshot } from '../storage/index.js';
import type { DivisionParts } from './division-parts.js';
import type { Updater } from './updater.js';

/** What putting a snapshot in place touches beside log, engine and state machine. */
export interface SnapshotReloadHooks {
  readonly updater: Pick<Updater, 'exclusive' | 'reload'>;
  /** Entries from `index` on are cut from the log. */
  truncated(index: number): void;
  generationChanged(generation: number): void;
  /** Entries up to `index` are never applied here (spec: H-26). */
  skipped(index: number): void;
}

/**
 * Puts a snapshot of the leader in place of the state machine's state (spec: consensus 5.5). The
 * order is such that a crash at any point leaves a log and a snapshot that fit: first goes what
 * contradicts the snapshot, then the directory is swapped, then the log lets go of what is covered.
 * A failure on the way loses the division: its state is not known any more; the next start repairs.
 */
export class SnapshotReload {
  readonly #parts: DivisionParts;
  readonly #hooks: SnapshotReloadHooks;
  #active = false;

  constructor(parts: DivisionParts, hooks: SnapshotReloadHooks) {
    this.#parts = parts;
    this.#hooks = hooks;
  }

  get isActive(): boolean {
    return this.#active;
  }

  /**
   * Installs the snapshot at `termIndex`: the one in the directory `received`, or one that the
   * state machine has fetched by itself. False when everything it covers is committed here already.
   */
  install(termIndex: TermIndex, received: string | undefined): Promise<boolean> {
    this.#active = true;
    return new Promise((resolve, reject) => {
      const dropped = (): void => {
        this.#active = false;
        reject(new AlreadyClosedException(`${this.#parts.memberId} has failed`));
      };
      this.#hooks.updater.exclusive(async () => {
        try {
          resolve(await this.#run(termIndex, received));
        } catch (error) {
          reject(toError(error));
          throw error;
        } finally {
          this.#active = false;
        }
      }, dropped);
    });
  }

  /** Does something with the engine in its turn. Rejects when the division is closed. */
  inTurn<T>(action: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      const accepted = this.#parts.submit(() => {
        try {
          resolve(action());
        } catch (error) {
          reject(toError(error));
          throw error;
        }
      });
      if (!accepted) reject(new AlreadyClosedException(`${this.#parts.memberId} is closed`));
    });
  }

  async #run(termIndex: TermIndex, received: string | undefined): Promise<boolean> {
    const { stateMachine, storage, fileSystem, log, logger, engine } = this.#parts;
    const { index } = termIndex;
    if (!(await this.inTurn(() => this.#prepare(termIndex)))) return false;
    try {
      await log.settled();
      await stateMachine.pause();
      if (received !== undefined) {
        await swapSnapshot({ storage, fs: fileSystem, logger }, received);
      }
      await stateMachine.reinitialize();
      const loaded = stateMachine.getLatestSnapshot()?.termIndex;
      if (loaded === undefined || loaded.index < index) {
        throw new AssertionFailedError(
          `the state machine loaded the snapshot at ${loaded?.index}, not that at ${index}`,
        );
      }
      await this.inTurn(() => this.#loaded(loaded));
      await log.settled();
      logger.log('info', `installed the snapshot at ${loaded.index}`);
      return true;
    } finally {
      await this.inTurn(() => engine.setInstalling(false)).catch(() => undefined);
    }
  }

  /** From here on no entries are taken, so that the commit index stays below the snapshot. */
  #prepare(termIndex: TermIndex): boolean {
    const { engine, log, nowMs } = this.#parts;
    if (engine.commitIndex >= termIndex.index) {
      engine.setInstalling(false);
      return false;
    }
    engine.setInstalling(true);
    const cut = engine.prepareInstall(termIndex, nowMs());
    if (cut !== undefined) {
      this.#hooks.truncated(cut.truncateFrom);
      log.truncate(cut.truncateFrom, cut.generation);
      this.#hooks.generationChanged(cut.generation);
    }
    return true;
  }

  #loaded(snapshot: TermIndex): void {
    const { engine, log, nowMs } = this.#parts;
    const generation = engine.onSnapshotInstalled(snapshot, nowMs());
    this.#hooks.generationChanged(generation);
    log.installSnapshot(snapshot.index);
    engine.onLogPurged(log.startIndex);
    this.#hooks.updater.reload(snapshot.index);
    this.#hooks.skipped(snapshot.index);
  }
}
