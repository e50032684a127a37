import { InvalidArgumentError } from '../common/errors.js';
import { stateMachineBodyOf, withData, withoutData } from '../proto/wire/index.js';
import { EntryKind, type LogEntry } from '../proto/wire/types.js';
import type { TermIndex } from '../protocol/term-index.js';
import type { DataSync } from './data-sync.js';
import type { EntryReader } from './entry-reader.js';
import { RaftLogIOException, toStorageError } from './errors.js';
import { failedLogError, type LogWriter } from './log-writer.js';
import { Segment } from './segment.js';
import type { SegmentCache } from './segment-cache.js';
import { recordSize } from './segment-format.js';
import type { SegmentList } from './segment-list.js';
import type { LogDataStore, RaftLog, RaftLogConfig } from './types.js';

const DATA_STREAM = 1;

type Positions = Parameters<RaftLog['setPositions']>[0];
type ReadLimits = Parameters<RaftLog['read']>[2];

export interface SegmentedLogParts {
  readonly list: SegmentList;
  readonly cache: SegmentCache;
  readonly writer: LogWriter;
  readonly reader: EntryReader;
  readonly data: DataSync;
  readonly dataStore: LogDataStore | undefined;
  readonly config: RaftLogConfig;
  readonly snapshotIndex: number;
}

/** The log in segment files: memory state here, disk work in the writer (spec: storage 4-7). */
export class SegmentedRaftLog implements RaftLog {
  readonly #parts: SegmentedLogParts;
  readonly #list: SegmentList;
  readonly #cache: SegmentCache;
  readonly #writer: LogWriter;
  readonly #config: RaftLogConfig;
  #positions: Positions;
  #purgeIndex: number;
  #closing: Promise<void> | undefined;

  constructor(parts: SegmentedLogParts) {
    this.#parts = parts;
    this.#list = parts.list;
    this.#cache = parts.cache;
    this.#writer = parts.writer;
    this.#config = parts.config;
    const { snapshotIndex } = parts;
    this.#positions = { appliedIndex: snapshotIndex, snapshotIndex, followerNextIndices: [] };
    this.#purgeIndex = parts.list.startIndex - 1;
  }

  get startIndex(): number {
    return this.#list.startIndex;
  }

  get lastIndex(): number {
    return this.#list.lastIndex;
  }

  get lastTermIndex(): TermIndex | undefined {
    return this.#list.lastTermIndex;
  }

  get flushIndex(): number {
    return this.#writer.flushIndex;
  }

  get pendingBytes(): number {
    return this.#writer.pendingBytes;
  }

  get pendingEntries(): number {
    return this.#writer.pendingEntries;
  }

  append(entries: readonly LogEntry[], generation: number): boolean {
    this.#checkUsable();
    this.#checkEntries(entries);
    for (const entry of entries) this.#appendOne(entry, generation);
    return !this.#writer.isOverLimit;
  }

  whenDrained(callback: () => void): void {
    this.#writer.whenDrained(callback);
  }

  truncate(index: number, generation: number): void {
    this.#checkUsable();
    if (index < this.startIndex) {
      throw new InvalidArgumentError(`cannot truncate from ${index}: starts at ${this.startIndex}`);
    }
    if (index > this.lastIndex) return;
    const plan = this.#list.truncate(index);
    for (const segment of plan.deleted) this.#cache.drop(segment);
    if (plan.cut !== undefined) this.#cache.truncate(plan.cut.segment, index);
    this.#writer.truncate(index, plan, this.#list.lastTermIndex, generation);
  }

  purge(index: number, force = false): number {
    this.#checkUsable();
    const kept = this.#config.purgePreservationLogNum;
    const upTo = force || kept <= 0 ? index : Math.min(index, this.lastIndex - kept);
    if (!force && upTo - this.#purgeIndex < this.#config.purgeGap) return this.startIndex;
    if (upTo < this.startIndex) return this.startIndex;
    const removed = this.#list.purge(upTo);
    for (const segment of removed) this.#cache.drop(segment);
    this.#purgeIndex = Math.max(this.#purgeIndex, removed.at(-1)?.endIndex ?? upTo);
    if (removed.length > 0) this.#writer.purge(removed);
    return this.startIndex;
  }

  installSnapshot(snapshotIndex: number): void {
    this.#checkUsable();
    if (this.lastIndex >= snapshotIndex) {
      this.purge(snapshotIndex, true);
      return;
    }
    const removed = this.#list.clear(snapshotIndex + 1);
    for (const segment of removed) this.#cache.drop(segment);
    this.#purgeIndex = Math.max(this.#purgeIndex, snapshotIndex);
    this.#writer.restart(snapshotIndex, removed);
  }

  settled(): Promise<void> {
    return this.#writer.settled();
  }

  termAt(index: number): number | undefined {
    return this.#list.find(index)?.termOf(index);
  }

  kindAt(index: number): EntryKind | undefined {
    return this.#list.find(index)?.kindOf(index);
  }

  wireSizeAt(index: number): number | undefined {
    return this.#list.find(index)?.fullSizeOf(index);
  }

  getCached(index: number): LogEntry | undefined {
    const segment = this.#list.find(index);
    return segment === undefined ? undefined : this.#cache.get(segment, index);
  }

  read(from: number, to: number, limits: ReadLimits): LogEntry[] | Promise<LogEntry[]> {
    if (this.#closing !== undefined) return Promise.reject(new RaftLogIOException('log is closed'));
    if (from < this.startIndex || from > this.lastIndex) {
      const range = `${this.startIndex} to ${this.lastIndex}`;
      return Promise.reject(new RaftLogIOException(`no entry ${from}: the log has ${range}`));
    }
    const last = this.#lastWithin(from, Math.min(to, this.lastIndex), limits);
    const entries: LogEntry[] = [];
    for (let index = from; index <= last; index++) {
      const entry = this.getCached(index);
      if (entry === undefined || (limits.withData && entry.hasData && entry.data === undefined)) {
        return this.#readSlowly(from, last, limits.withData);
      }
      entries.push(entry);
    }
    return entries;
  }

  setPositions(positions: Positions): void {
    this.#positions = positions;
    const { appliedIndex, followerNextIndices } = positions;
    const needed = Math.min(...followerNextIndices) - 1;
    this.#cache.release(Math.min(appliedIndex, this.#writer.flushIndex, needed));
    if (this.#cache.isOverSize) this.#evict();
  }

  close(): Promise<void> {
    this.#closing ??= this.#writer.close().then(() => this.#cache.clear());
    return this.#closing;
  }

  #checkUsable(): void {
    if (this.#writer.failure !== undefined) throw failedLogError(this.#writer.failure);
    if (this.#closing !== undefined) throw new RaftLogIOException('the log is closed');
  }

  /** Checked before anything is changed (spec: storage 6.1, 14.10). */
  #checkEntries(entries: readonly LogEntry[]): void {
    let index = this.lastIndex;
    let term = this.lastTermIndex?.term ?? 0;
    const max = this.#config.entrySizeMaxBytes;
    for (const entry of entries) {
      index++;
      if (entry.index !== index) {
        throw new InvalidArgumentError(`entry ${entry.index} where ${index} belongs`);
      }
      if (entry.term < term) {
        throw new InvalidArgumentError(`entry ${index} has term ${entry.term} after ${term}`);
      }
      if (recordSize(entry.fullSizeBytes) > max || recordSize(entry.stored.length) > max) {
        throw new InvalidArgumentError(
          `entry ${index} has ${entry.fullSizeBytes} bytes, above the limit of ${max}`,
        );
      }
      term = entry.term;
    }
  }

  #appendOne(entry: LogEntry, generation: number): void {
    const { data } = this.#parts;
    const work = data.isActive ? data.start(entry, this.#isDataStream(entry)) : undefined;
    const segment = this.#segmentFor(entry);
    const bytes = recordSize(entry.stored.length);
    segment.add(entry.term, entry.kind, entry.hasData, bytes, entry.fullSizeBytes);
    this.#cache.add(segment, this.#cachedForm(entry));
    this.#writer.append(segment, entry, generation, work);
  }

  #isDataStream(entry: LogEntry): boolean {
    return entry.kind === EntryKind.STATE_MACHINE && stateMachineBodyOf(entry).type === DATA_STREAM;
  }

  /**
   * With state machine caching the state machine keeps the data; a copy of the rest lets go of the
   * frame that held both.
   */
  #cachedForm(entry: LogEntry): LogEntry {
    if (entry.data === undefined || !this.#config.stateMachineDataCachingEnabled) return entry;
    return { ...withoutData(entry), stored: entry.stored.slice() };
  }

  /** The open segment, after rolling where it must (spec: storage 6.1). */
  #segmentFor(entry: LogEntry): Segment {
    const { open } = this.#list;
    if (open !== undefined && !this.#mustRoll(open, entry)) return open;
    if (open !== undefined) {
      open.close();
      this.#writer.finalize(open);
      this.#evict();
    }
    const segment = new Segment(entry.index);
    this.#list.add(segment);
    this.#writer.start(entry.index);
    return segment;
  }

  #mustRoll(open: Segment, entry: LogEntry): boolean {
    const max = this.#config.segmentSizeMaxBytes;
    const bytes = recordSize(entry.stored.length);
    if (open.sizeBytes >= max) return true;
    if (bytes <= max && open.sizeBytes + bytes > max) return true;
    return open.lastTerm !== undefined && open.lastTerm !== entry.term;
  }

  #evict(): void {
    const { appliedIndex, followerNextIndices } = this.#positions;
    const safeIndex = this.#writer.flushIndex;
    this.#cache.evict(this.#list, { appliedIndex, followerNextIndices, safeIndex });
  }

  /** Last index that the limits let in; at least one entry. */
  #lastWithin(from: number, to: number, limits: ReadLimits): number {
    const end = Math.min(to, from + Math.max(1, limits.maxCount) - 1);
    let bytes = this.wireSizeAt(from) ?? 0;
    let last = from;
    while (last < end) {
      bytes += this.wireSizeAt(last + 1) ?? 0;
      if (bytes > limits.maxBytes) break;
      last++;
    }
    return last;
  }

  async #readSlowly(from: number, to: number, needsData: boolean): Promise<LogEntry[]> {
    try {
      const parts: (LogEntry | Promise<LogEntry[]>)[] = [];
      for (let index = from; index <= to; index++) {
        const cached = this.getCached(index);
        if (cached !== undefined) {
          parts.push(cached);
          continue;
        }
        const segment = this.#list.find(index);
        if (segment === undefined) throw new RaftLogIOException(`entry ${index} is gone`);
        let end = index;
        while (end < to && segment.has(end + 1) && this.getCached(end + 1) === undefined) end++;
        parts.push(this.#parts.reader.read(segment, index, end));
        index = end;
      }
      const entries = (await Promise.all(parts)).flat();
      return needsData ? await Promise.all(entries.map((e) => this.#withData(e))) : entries;
    } catch (error) {
      if (error instanceof RaftLogIOException) throw error;
      throw new RaftLogIOException(toStorageError(error, 'read').message, { cause: error });
    }
  }

  async #withData(entry: LogEntry): Promise<LogEntry> {
    if (!entry.hasData || entry.data !== undefined) return entry;
    const { dataStore } = this.#parts;
    if (dataStore === undefined) {
      throw new RaftLogIOException(`nobody has the state machine data of entry ${entry.index}`);
    }
    return withData(entry, await this.#parts.data.read(entry, dataStore));
  }
}
