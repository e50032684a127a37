import type { TermIndex } from '../protocol/term-index.js';
import type { Segment } from './segment.js';

/** What a truncation does to the files, highest start first (spec: storage 7.1). */
export interface TruncationPlan {
  readonly deleted: readonly Segment[];
  readonly cut: { readonly segment: Segment; readonly sizeBytes: number } | undefined;
}

/** The segments of a log in memory: closed ones in order, then perhaps an open one. */
export class SegmentList {
  readonly #segments: Segment[] = [];
  #startIndex: number;

  /** `startIndex`: where an empty log begins. */
  constructor(startIndex: number) {
    this.#startIndex = startIndex;
  }

  get segments(): readonly Segment[] {
    return this.#segments;
  }

  get startIndex(): number {
    return this.#segments[0]?.startIndex ?? this.#startIndex;
  }

  /** startIndex - 1 when empty. */
  get lastIndex(): number {
    return this.#segments.at(-1)?.endIndex ?? this.#startIndex - 1;
  }

  get last(): Segment | undefined {
    return this.#segments.at(-1);
  }

  get open(): Segment | undefined {
    const last = this.last;
    return last === undefined || last.isClosed ? undefined : last;
  }

  get lastTermIndex(): TermIndex | undefined {
    const last = this.last;
    if (last === undefined || last.count === 0) return undefined;
    return { term: last.termOf(last.endIndex), index: last.endIndex };
  }

  add(segment: Segment): void {
    this.#segments.push(segment);
  }

  /** The segment that holds `index`, or undefined. */
  find(index: number): Segment | undefined {
    const last = this.last;
    if (last === undefined) return undefined;
    if (index >= last.startIndex) return last.has(index) ? last : undefined;
    let low = 0;
    let high = this.#segments.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#segments[middle]?.startIndex ?? 0) <= index) low = middle;
      else high = middle - 1;
    }
    const found = this.#segments[low];
    return found?.has(index) === true ? found : undefined;
  }

  /** Terms of the whole log as runs. */
  termRuns(): TermIndex[] {
    const runs: TermIndex[] = [];
    for (const segment of this.#segments) {
      for (const run of segment.termRuns) {
        if (runs.at(-1)?.term !== run.term) runs.push(run);
      }
    }
    return runs;
  }

  /** Removes entries from `index` on from memory. */
  truncate(index: number): TruncationPlan {
    const deleted: Segment[] = [];
    const start = this.startIndex;
    for (;;) {
      const last = this.last;
      if (last === undefined || last.endIndex < index) {
        this.#startIndex = start;
        return { deleted, cut: undefined };
      }
      if (last.startIndex < index) {
        last.truncateFrom(index);
        return { deleted, cut: { segment: last, sizeBytes: last.sizeBytes } };
      }
      this.#segments.pop();
      deleted.push(last);
    }
  }

  /**
   * Removes whole closed segments with end <= index from memory, lowest first (spec: storage 7.3).
   */
  purge(index: number): Segment[] {
    let count = 0;
    for (const segment of this.#segments) {
      if (!segment.isClosed || segment.endIndex > index) break;
      count++;
    }
    return this.#dropFirst(count);
  }

  /** Removes every segment; the log goes on at `startIndex`. */
  clear(startIndex: number): Segment[] {
    const dropped = this.#dropFirst(this.#segments.length);
    this.#startIndex = startIndex;
    return dropped;
  }

  #dropFirst(count: number): Segment[] {
    const dropped = this.#segments.splice(0, count);
    const last = dropped.at(-1);
    if (last !== undefined) this.#startIndex = last.endIndex + 1;
    return dropped;
  }
}
