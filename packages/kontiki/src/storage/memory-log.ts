import { InvalidArgumentError } from '../common/errors.js';
import type { Runtime } from '../common/runtime.js';
import type { EntryKind, LogEntry } from '../proto/wire/types.js';
import type { TermIndex } from '../protocol/term-index.js';
import { RaftLogIOException } from './errors.js';
import type { OpenedLog, RaftLog, RaftLogListener } from './types.js';

export interface MemoryLogOptions {
  readonly listener: RaftLogListener;
  readonly runtime: Runtime;
  readonly snapshotIndex: number;
}

/**
 * `raft.server.log.use.memory`: nothing outlives the process. For tests and caches (spec: storage
 * 12).
 */
export class MemoryRaftLog implements RaftLog {
  readonly #options: MemoryLogOptions;
  #entries: LogEntry[] = [];
  #startIndex: number;
  #flushIndex: number;
  #generation = 0;
  #scheduled = false;
  #closed = false;

  constructor(options: MemoryLogOptions) {
    this.#options = options;
    this.#startIndex = options.snapshotIndex + 1;
    this.#flushIndex = options.snapshotIndex;
  }

  get startIndex(): number {
    return this.#startIndex;
  }

  get lastIndex(): number {
    return this.#startIndex + this.#entries.length - 1;
  }

  get lastTermIndex(): TermIndex | undefined {
    const last = this.#entries.at(-1);
    return last === undefined ? undefined : { term: last.term, index: last.index };
  }

  get flushIndex(): number {
    return this.#flushIndex;
  }

  get pendingBytes(): number {
    return 0;
  }

  get pendingEntries(): number {
    return this.lastIndex - this.#flushIndex;
  }

  append(entries: readonly LogEntry[], generation: number): boolean {
    this.#checkOpen();
    let index = this.lastIndex;
    for (const entry of entries) {
      if (entry.index !== ++index) {
        throw new InvalidArgumentError(`entry ${entry.index} where ${index} belongs`);
      }
    }
    for (const entry of entries) this.#entries.push(entry);
    this.#flushSoon(generation);
    return true;
  }

  whenDrained(callback: () => void): void {
    this.#options.runtime.timers.enqueue(callback);
  }

  truncate(index: number, generation: number): void {
    this.#checkOpen();
    if (index < this.#startIndex) throw new InvalidArgumentError(`cannot truncate from ${index}`);
    this.#entries.length = Math.min(this.#entries.length, index - this.#startIndex);
    this.#flushIndex = Math.min(this.#flushIndex, this.lastIndex);
    this.#flushSoon(generation);
  }

  purge(index: number): number {
    this.#checkOpen();
    const count = Math.min(index, this.lastIndex) - this.#startIndex + 1;
    if (count > 0) {
      this.#entries = this.#entries.slice(count);
      this.#startIndex += count;
    }
    return this.#startIndex;
  }

  installSnapshot(snapshotIndex: number): void {
    this.purge(snapshotIndex);
    if (this.#startIndex > snapshotIndex) return;
    this.#startIndex = snapshotIndex + 1;
    this.#flushIndex = Math.max(this.#flushIndex, snapshotIndex);
  }

  async settled(): Promise<void> {
    // Nothing is on disk.
  }

  termAt(index: number): number | undefined {
    return this.getCached(index)?.term;
  }

  kindAt(index: number): EntryKind | undefined {
    return this.getCached(index)?.kind;
  }

  wireSizeAt(index: number): number | undefined {
    return this.getCached(index)?.fullSizeBytes;
  }

  getCached(index: number): LogEntry | undefined {
    return this.#entries[index - this.#startIndex];
  }

  read(
    from: number,
    to: number,
    limits: { readonly maxBytes: number; readonly maxCount: number },
  ): LogEntry[] | Promise<LogEntry[]> {
    if (this.getCached(from) === undefined) {
      return Promise.reject(new RaftLogIOException(`no entry ${from} in the log`));
    }
    const result: LogEntry[] = [];
    let bytes = 0;
    for (let index = from; index <= to; index++) {
      const entry = this.getCached(index);
      if (entry === undefined || result.length >= Math.max(1, limits.maxCount)) break;
      bytes += entry.fullSizeBytes;
      if (result.length > 0 && bytes > limits.maxBytes) break;
      result.push(entry);
    }
    return result;
  }

  setPositions(): void {
    // Nothing is ever evicted.
  }

  async close(): Promise<void> {
    this.#closed = true;
  }

  #checkOpen(): void {
    if (this.#closed) throw new RaftLogIOException('the log is closed');
  }

  #flushSoon(generation: number): void {
    this.#generation = generation;
    if (this.#scheduled) return;
    this.#scheduled = true;
    this.#options.runtime.timers.defer(() => {
      this.#scheduled = false;
      this.#flushIndex = this.lastIndex;
      const last = this.lastTermIndex;
      if (last !== undefined) this.#options.listener.onFlushed(last, this.#generation);
    });
  }
}

/** A log in memory, as `openLog` would give an empty one. */
export function openMemoryLog(options: MemoryLogOptions): OpenedLog {
  return {
    log: new MemoryRaftLog(options),
    termRuns: [],
    configurations: [],
    lastMetadataCommitIndex: -1,
  };
}
