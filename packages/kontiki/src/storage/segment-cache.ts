import type { LogEntry } from '../proto/wire/types.js';
import type { Segment } from './segment.js';
import type { SegmentList } from './segment-list.js';

/** What an entry costs in memory beside its bytes. */
const ENTRY_OVERHEAD_BYTES = 160;

/** Positions that eviction spares (spec: storage 5.7). */
export interface CachePositions {
  readonly appliedIndex: number;
  readonly followerNextIndices: readonly number[];
  /** Everything up to here can be read from disk. */
  readonly safeIndex: number;
}

interface CachedSegment {
  /** Index of entries[0]; entries before it are evicted. */
  firstIndex: number;
  entries: LogEntry[];
  bytes: number;
}

function costOf(entry: LogEntry): number {
  return entry.stored.length + (entry.data?.length ?? 0) + ENTRY_OVERHEAD_BYTES;
}

/**
 * Bodies of recent entries, by segment. Bounded by the number of closed segments and by bytes.
 * Whole closed segments go first, oldest first, as the specification says; when that is not enough,
 * entries that are applied and on disk are dropped from the front of the open segment, which the
 * other implementation never does: one open segment with large data could else hold any amount.
 */
export class SegmentCache {
  readonly #segmentCountMax: number;
  readonly #sizeMaxBytes: number;
  readonly #cached = new Map<Segment, CachedSegment>();
  #bytes = 0;

  constructor(segmentCountMax: number, sizeMaxBytes: number) {
    this.#segmentCountMax = segmentCountMax;
    this.#sizeMaxBytes = sizeMaxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isOverSize(): boolean {
    return this.#bytes > this.#sizeMaxBytes;
  }

  add(segment: Segment, entry: LogEntry): void {
    let cached = this.#cached.get(segment);
    if (cached === undefined) {
      cached = { firstIndex: entry.index, entries: [], bytes: 0 };
      this.#cached.set(segment, cached);
    }
    const cost = costOf(entry);
    cached.entries.push(entry);
    cached.bytes += cost;
    this.#bytes += cost;
  }

  get(segment: Segment, index: number): LogEntry | undefined {
    const cached = this.#cached.get(segment);
    return cached?.entries[index - cached.firstIndex];
  }

  /** The segment is gone. */
  drop(segment: Segment): void {
    this.#bytes -= this.#cached.get(segment)?.bytes ?? 0;
    this.#cached.delete(segment);
  }

  /** Entries of the segment from `index` on are gone. */
  truncate(segment: Segment, index: number): void {
    const cached = this.#cached.get(segment);
    if (cached === undefined) return;
    for (const entry of cached.entries.splice(Math.max(0, index - cached.firstIndex))) {
      cached.bytes -= costOf(entry);
      this.#bytes -= costOf(entry);
    }
    if (cached.entries.length === 0) this.drop(segment);
  }

  clear(): void {
    this.#cached.clear();
    this.#bytes = 0;
  }

  /**
   * Drops the entries up to `index`: they are applied, on disk, and no follower needs them. Whoever
   * reads them all the same gets them from disk. Kept until the limits are reached, they would
   * outlive a young generation, and cost more to collect than all the rest of a small write.
   */
  release(index: number): void {
    for (const [segment, cached] of this.#cached) {
      if (cached.firstIndex > index) return;
      const released = index - cached.firstIndex + 1;
      if (released >= cached.entries.length) {
        this.drop(segment);
        continue;
      }
      for (const entry of cached.entries.splice(0, released)) {
        cached.bytes -= costOf(entry);
        this.#bytes -= costOf(entry);
      }
      cached.firstIndex = index + 1;
    }
  }

  /** Evicts what the limits demand and the positions allow. */
  evict(list: SegmentList, positions: CachePositions): void {
    while (this.#needsSegmentEviction(list)) {
      const victims = this.#closedVictims(list, positions);
      if (victims.length === 0) break;
      for (const segment of victims) {
        if (!this.#needsSegmentEviction(list)) break;
        this.drop(segment);
      }
    }
    if (this.isOverSize) this.#evictFront(list, positions);
  }

  #closedCached(list: SegmentList): Segment[] {
    return list.segments.filter((segment) => segment.isClosed && this.#cached.has(segment));
  }

  #needsSegmentEviction(list: SegmentList): boolean {
    return this.isOverSize || this.#closedCached(list).length > this.#segmentCountMax;
  }

  #closedVictims(list: SegmentList, positions: CachePositions): Segment[] {
    const { appliedIndex, followerNextIndices, safeIndex } = positions;
    const candidates = this.#closedCached(list).filter((s) => s.endIndex <= safeIndex);
    if (followerNextIndices.length === 0) {
      const applied = candidates.filter((s) => s.endIndex <= appliedIndex);
      if (applied.length > 0) return applied;
      const newest = candidates.findLast((s) => s.startIndex > appliedIndex);
      return newest === undefined ? [] : [newest];
    }
    const needed = Math.min(appliedIndex, ...followerNextIndices);
    const passed = candidates.filter((s) => s.endIndex < needed);
    if (passed.length > 0) return passed;
    const unused = candidates.find(
      (s) => !s.has(appliedIndex) && !followerNextIndices.some((next) => s.has(next)),
    );
    return unused === undefined ? [] : [unused];
  }

  /** Drops applied entries that are on disk, oldest first, until a quarter of the limit is free. */
  #evictFront(list: SegmentList, positions: CachePositions): void {
    const targetBytes = this.#sizeMaxBytes * 0.75;
    const limit = Math.min(positions.appliedIndex, positions.safeIndex);
    for (const segment of list.segments) {
      const cached = this.#cached.get(segment);
      if (cached === undefined) continue;
      let count = 0;
      let freed = 0;
      for (const entry of cached.entries) {
        if (entry.index > limit || this.#bytes - freed <= targetBytes) break;
        freed += costOf(entry);
        count++;
      }
      this.#bytes -= freed;
      cached.bytes -= freed;
      cached.entries.splice(0, count);
      cached.firstIndex += count;
      if (cached.entries.length === 0) this.drop(segment);
      if (this.#bytes <= targetBytes) return;
    }
  }
}
