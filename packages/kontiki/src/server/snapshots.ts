import { AssertionFailedError, messageOf, toError } from '../common/errors.js';
import { RaftIOException, TimeoutIOException } from '../protocol/exceptions.js';
import { INVALID_INDEX } from '../protocol/term-index.js';
import type { DivisionParts } from './division-parts.js';
import type { Updater } from './updater.js';

interface Waiter {
  readonly done: (index: number | undefined, error: Error | undefined) => void;
  readonly deadlineMs: number;
}

/**
 * Takes snapshots on request and by trigger, and purges the log after (spec: storage 10.4,
 * consensus 5.1, 5.2).
 */
export class Snapshots {
  readonly #parts: DivisionParts;
  readonly #updater: Updater;
  #lastIndex: number;
  #running = false;
  #waiters: Waiter[] = [];
  /** No snapshot can be taken at the moment. */
  isRefused: () => boolean = () => false;

  constructor(parts: DivisionParts, updater: Updater, lastIndex: number) {
    this.#parts = parts;
    this.#updater = updater;
    this.#lastIndex = lastIndex;
  }

  get deadlineMs(): number {
    return this.#waiters.reduce((min, one) => Math.min(min, one.deadlineMs), Infinity);
  }

  /** On request. `done` gets the index of the snapshot that covers it. */
  request(creationGap: number, timeoutMs: number, done: Waiter['done']): void {
    const { config, stateMachine, nowMs } = this.#parts;
    const last = stateMachine.getLatestSnapshot()?.termIndex.index ?? 0;
    if (this.isRefused()) {
      done(undefined, new RaftIOException('a snapshot of the leader is being installed'));
      return;
    }
    const gap = creationGap > 0 ? creationGap : config.snapshot.creationGap;
    if (stateMachine.lastAppliedTermIndex.index - last < gap) {
      done(last, undefined);
      return;
    }
    const deadlineMs = timeoutMs > 0 ? nowMs() + timeoutMs : Number.POSITIVE_INFINITY;
    this.#waiters.push({ done, deadlineMs });
    this.#start();
  }

  /** Looks whether a snapshot is due, and whom it comes too late for. */
  update(nowMs: number): void {
    const { autoTrigger, autoTriggerThreshold } = this.#parts.config.snapshot;
    const late = this.#waiters.filter((waiter) => waiter.deadlineMs <= nowMs);
    this.#waiters = this.#waiters.filter((waiter) => waiter.deadlineMs > nowMs);
    for (const waiter of late) {
      waiter.done(undefined, new TimeoutIOException('the snapshot was not taken in time'));
    }
    if (!autoTrigger || this.#running) return;
    const applied = this.#parts.stateMachine.lastAppliedTermIndex.index;
    if (applied - this.#lastIndex >= autoTriggerThreshold) this.#start();
  }

  /** At the close, when no apply is under way; `isRemoval` when the group is removed. */
  async atStop(isRemoval: boolean): Promise<void> {
    const { autoTrigger, triggerWhenStop, triggerWhenRemove } = this.#parts.config.snapshot;
    const isWanted = autoTrigger && (isRemoval ? triggerWhenRemove : triggerWhenStop);
    const applied = this.#parts.stateMachine.lastAppliedTermIndex.index;
    if (isWanted && applied > this.#lastIndex) await this.#take();
    for (const waiter of this.#waiters.splice(0)) {
      waiter.done(undefined, new TimeoutIOException('the server stops'));
    }
  }

  #start(): void {
    if (this.#running) return;
    this.#running = true;
    const dropped = (): void => {
      this.#running = false;
      this.#failWaiters(new RaftIOException('the state machine failed'));
    };
    this.#updater.exclusive(async () => {
      try {
        await this.#take();
      } catch (error) {
        // The state machine goes on without; whoever waits for it is told (spec: consensus 5.1).
        this.#parts.logger.log('error', `no snapshot: ${messageOf(error)}`, { error });
        this.#failWaiters(toError(error));
      }
      this.#running = false;
    }, dropped);
  }

  /** A leader's snapshot was installed. */
  installed(index: number): void {
    if (index > this.#lastIndex) this.#lastIndex = index;
  }

  #failWaiters(cause: Error): void {
    const error = new RaftIOException(`no snapshot was taken: ${cause.message}`, { cause });
    for (const waiter of this.#waiters.splice(0)) waiter.done(undefined, error);
  }

  async #take(): Promise<void> {
    const { stateMachine, logger, config, submit } = this.#parts;
    const index = await stateMachine.takeSnapshot();
    for (const waiter of this.#waiters.splice(0)) waiter.done(index, undefined);
    if (index > this.#updater.appliedIndex) {
      const text = `the snapshot at ${index} is beyond the applied ${this.#updater.appliedIndex}`;
      throw new AssertionFailedError(text);
    }
    await stateMachine.cleanupOldSnapshots(config.snapshot.retentionFileNum);
    if (index <= INVALID_INDEX) return;
    this.#lastIndex = index;
    logger.log('info', `took a snapshot at ${index}`);
    submit(() => this.#purge(index));
  }

  #purge(index: number): void {
    const { engine, log, config, commitInfos, nowMs } = this.#parts;
    const term = engine.termAt(index);
    if (term !== undefined) engine.onSnapshotTaken({ term, index }, nowMs());
    const upTo = config.snapshot.purgeUptoSnapshotIndex
      ? index
      : Math.min(index, commitInfos.minimum);
    if (upTo < 0) return;
    const before = log.startIndex;
    const start = log.purge(upTo);
    if (start > before) engine.onLogPurged(start);
  }
}
