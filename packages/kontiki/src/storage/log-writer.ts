import { type KontikiError, toError } from '../common/errors.js';
import type { Logger } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import type { LogEntry } from '../proto/wire/types.js';
import { INVALID_INDEX, type TermIndex } from '../protocol/term-index.js';
import type { DataFailure, DataSync } from './data-sync.js';
import { RaftLogIOException, toStorageError } from './errors.js';
import type { Segment } from './segment.js';
import type { TruncationPlan } from './segment-list.js';
import type { SegmentWriter } from './segment-writer.js';
import type { RaftLogConfig, RaftLogListener } from './types.js';
import { type DataWork, WriteBatch } from './write-batch.js';

type DataOutcome = Promise<{ readonly error: unknown } | undefined>;

/** Disk work of the log, carried out strictly in this order (spec: storage 6.3). */
type Task =
  | { readonly kind: 'write'; readonly segment: Segment; readonly batch: WriteBatch }
  | { readonly kind: 'start'; readonly startIndex: number }
  | { readonly kind: 'finalize'; readonly segment: Segment; readonly endIndex: number }
  | {
      readonly kind: 'truncate';
      readonly plan: TruncationPlan;
      readonly cutName: string;
      readonly last: TermIndex | undefined;
      readonly generation: number;
      readonly dataWork: DataOutcome;
    }
  | { readonly kind: 'purge'; readonly segments: readonly Segment[] }
  /** Everything is removed: the log goes on behind a snapshot. */
  | { readonly kind: 'restart'; readonly segments: readonly Segment[] }
  | { readonly kind: 'barrier'; readonly done: (failure: Error | undefined) => void };

export interface LogWriterOptions {
  readonly files: SegmentWriter;
  readonly config: RaftLogConfig;
  readonly data: DataSync;
  readonly listener: RaftLogListener;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly flushIndex: number;
}

/**
 * The only writer of a log's files. Entries that arrive while a flush is under way gather in the
 * next batch: one `writev` and one `fdatasync` each, however many they are (`force.sync.num` never
 * splits a batch). The first error ends everything: what is queued is dropped, nothing is reported
 * durable any more (spec: storage 6.4). A failed sync is not repeated: the system may have dropped
 * the data.
 */
export class LogWriter {
  readonly #options: LogWriterOptions;
  readonly #queue: Task[] = [];
  /** Batches that are queued, being written, or written and not synced. */
  readonly #pending = new Set<WriteBatch>();
  readonly #unsynced: WriteBatch[] = [];
  #syncing: Promise<void> | undefined;
  #running = false;
  #failure: KontikiError | undefined;
  #flushIndex: number;
  #pendingBytes = 0;
  #pendingEntries = 0;
  #drainedCallbacks: (() => void)[] = [];
  #idleCallbacks: (() => void)[] = [];

  constructor(options: LogWriterOptions) {
    this.#options = options;
    this.#flushIndex = options.flushIndex;
  }

  get flushIndex(): number {
    return this.#flushIndex;
  }

  get pendingBytes(): number {
    return this.#pendingBytes;
  }

  get pendingEntries(): number {
    return this.#pendingEntries;
  }

  get failure(): KontikiError | undefined {
    return this.#failure;
  }

  get isOverLimit(): boolean {
    const { queueElementLimit, queueByteLimitBytes } = this.#options.config;
    return this.#pendingEntries > queueElementLimit || this.#pendingBytes > queueByteLimitBytes;
  }

  append(segment: Segment, entry: LogEntry, generation: number, work: DataWork | undefined): void {
    const batch = this.#openBatch(segment, entry, generation);
    batch.add(entry);
    if (work !== undefined) batch.dataWork.push(work);
    this.#pendingBytes += entry.fullSizeBytes;
    this.#pendingEntries++;
  }

  start(startIndex: number): void {
    this.#push({ kind: 'start', startIndex });
  }

  finalize(segment: Segment): void {
    this.#push({ kind: 'finalize', segment, endIndex: segment.endIndex });
  }

  /** Entries from `index` on are gone from memory. */
  truncate(
    index: number,
    plan: TruncationPlan,
    last: TermIndex | undefined,
    generation: number,
  ): void {
    for (const batch of this.#pending) {
      batch.validLastIndex = Math.min(batch.validLastIndex, index - 1);
    }
    this.#flushIndex = Math.min(this.#flushIndex, index - 1);
    const dataWork = this.#options.data.truncate(index);
    const cutName = plan.cut?.segment.name ?? '';
    this.#push({ kind: 'truncate', plan, cutName, last, generation, dataWork });
  }

  purge(segments: readonly Segment[]): void {
    this.#push({ kind: 'purge', segments });
  }

  /** Everything in memory is gone, because a snapshot at `snapshotIndex` covers it. */
  restart(snapshotIndex: number, segments: readonly Segment[]): void {
    for (const batch of this.#pending) batch.validLastIndex = INVALID_INDEX;
    this.#flushIndex = Math.max(this.#flushIndex, snapshotIndex);
    this.#push({ kind: 'restart', segments });
  }

  /** Resolves when everything that is queued now is done; rejects when the log failed. */
  settled(): Promise<void> {
    return new Promise((resolve, reject) => {
      const done = (failure: Error | undefined): void => {
        if (failure === undefined) resolve();
        else reject(failedLogError(failure));
      };
      if (this.#failure !== undefined) done(this.#failure);
      else this.#push({ kind: 'barrier', done });
    });
  }

  whenDrained(callback: () => void): void {
    if (this.isOverLimit && this.#failure === undefined) this.#drainedCallbacks.push(callback);
    else this.#options.runtime.timers.enqueue(callback);
  }

  /**
   * Carries out what is queued, then closes the file. Never rejects: a failure was told to the
   * listener.
   */
  async close(): Promise<void> {
    if (this.#running) await new Promise<void>((resolve) => this.#idleCallbacks.push(resolve));
    if (this.#failure !== undefined) return;
    try {
      await this.#options.files.closeFile();
    } catch (error) {
      // Everything is synced; only the padding stays (spec: storage 6.2).
      this.#options.logger.log('warn', 'closing the open segment failed', { error });
    }
  }

  #openBatch(segment: Segment, entry: LogEntry, generation: number): WriteBatch {
    const last = this.#queue.at(-1);
    if (
      last?.kind === 'write' &&
      last.batch.generation === generation &&
      last.batch.recordBytes < this.#options.config.writeBufferSizeBytes
    ) {
      return last.batch;
    }
    const batch = new WriteBatch(entry, generation);
    this.#pending.add(batch);
    this.#push({ kind: 'write', segment, batch });
    return batch;
  }

  #push(task: Task): void {
    if (this.#failure !== undefined) return;
    this.#queue.push(task);
    if (this.#running) return;
    this.#running = true;
    // Deferred, so that everything that arrives in this turn shares the first write.
    this.#options.runtime.timers.defer(() => void this.#run());
  }

  async #run(): Promise<void> {
    for (;;) {
      const task = this.#queue.shift();
      if (task === undefined || this.#failure !== undefined) {
        await this.#syncing;
        if (this.#queue.length === 0 || this.#failure !== undefined) break;
        continue;
      }
      try {
        if (task.kind === 'write') await this.#write(task.batch);
        else await this.#restructure(task);
      } catch (error) {
        const entry = task.kind === 'write' ? task.batch.lastEntry : undefined;
        await this.#fail(error, `log ${task.kind} failed`, entry);
      }
      if (task.kind !== 'write' && this.#queue.length === 0) await this.#syncing;
    }
    this.#running = false;
    const idle = this.#idleCallbacks;
    this.#idleCallbacks = [];
    for (const callback of idle) callback();
  }

  async #write(batch: WriteBatch): Promise<void> {
    const { files, data, config } = this.#options;
    const failed = await data.beforeWrite(batch);
    if (failed !== undefined) return this.#failData(failed);
    if (this.#failure !== undefined) return;
    await files.write(batch.seal(), batch.recordBytes);
    batch.recycle();
    if (config.asyncFlushEnabled || config.unsafeFlushEnabled) {
      if (config.unsafeFlushEnabled) this.#complete(batch);
      this.#unsynced.push(batch);
      this.#syncing ??= this.#syncInBackground();
      return;
    }
    await files.datasync();
    const late = await data.beforeDurable(batch);
    if (late !== undefined) return this.#failData(late);
    this.#complete(batch);
  }

  /** One sync at a time, for everything written before it began (spec: storage 6.3, 14.9). */
  async #syncInBackground(): Promise<void> {
    const { files, data, config } = this.#options;
    while (this.#unsynced.length > 0 && this.#failure === undefined) {
      const batches = this.#unsynced.splice(0);
      try {
        await files.datasync();
        for (const batch of batches) {
          const late = await data.beforeDurable(batch);
          if (late !== undefined) return await this.#failData(late);
          if (!config.unsafeFlushEnabled) this.#complete(batch);
        }
      } catch (error) {
        await this.#fail(error, 'log sync failed', batches.at(-1)?.lastEntry);
      }
    }
    this.#syncing = undefined;
  }

  async #restructure(task: Exclude<Task, { kind: 'write' }>): Promise<void> {
    const { files, listener } = this.#options;
    await this.#syncing;
    if (task.kind === 'barrier') return task.done(this.#failure);
    if (this.#failure !== undefined) return;
    switch (task.kind) {
      case 'start':
        return files.create(task.startIndex);
      case 'finalize':
        return files.finalize(task.segment, task.endIndex);
      case 'purge':
        return files.purge(task.segments);
      case 'restart':
        await files.closeFile();
        return files.purge(task.segments);
      case 'truncate': {
        await files.truncate(task.plan, task.cutName);
        const failed = await task.dataWork;
        if (failed !== undefined) throw toError(failed.error);
        // The rest was reported under an older generation, or not at all when its flush was under
        // way.
        if (task.last !== undefined) listener.onFlushed(task.last, task.generation);
      }
    }
  }

  #complete(batch: WriteBatch): void {
    if (this.#failure !== undefined || !this.#pending.delete(batch)) return;
    this.#pendingBytes -= batch.fullBytes;
    this.#pendingEntries -= batch.count;
    this.#flushIndex = Math.max(this.#flushIndex, batch.validLastIndex);
    const { last } = batch;
    if (batch.validLastIndex === last.index) {
      this.#options.listener.onFlushed(last, batch.generation);
    }
    this.#tellDrained();
  }

  #tellDrained(): void {
    if (this.#drainedCallbacks.length === 0) return;
    if (this.isOverLimit && this.#failure === undefined) return;
    const callbacks = this.#drainedCallbacks;
    this.#drainedCallbacks = [];
    for (const callback of callbacks) callback();
  }

  #failData(failed: DataFailure): Promise<void> {
    return this.#fail(failed.error, 'state machine data failed', failed.entry);
  }

  async #fail(thrown: unknown, action: string, entry: LogEntry | undefined): Promise<void> {
    if (this.#failure !== undefined) return;
    const failure = toStorageError(thrown, action);
    this.#failure = failure;
    const dropped = this.#queue.splice(0);
    for (const task of dropped) if (task.kind === 'barrier') task.done(failure);
    this.#pending.clear();
    this.#unsynced.length = 0;
    this.#options.logger.log('error', 'the log failed, nothing is written any more', {
      error: failure,
    });
    this.#options.listener.onFailed(failure, entry);
    this.#tellDrained();
    try {
      await this.#options.files.abandon();
    } catch (error) {
      this.#options.logger.log('warn', 'closing the failed segment file failed', { error });
    }
  }
}

/** What a call to a failed log throws. */
export function failedLogError(failure: Error): RaftLogIOException {
  return new RaftLogIOException(`the log failed before: ${failure.message}`, { cause: failure });
}
