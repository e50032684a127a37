import { assert } from '../common/errors.js';
import type { TermIndex } from '../protocol/term-index.js';

/**
 * What the engine knows of the log: its bounds, and the terms as runs. The latest snapshot's
 * position stands for the entries it covers. It contains every entry that was handed to the log,
 * durable or not.
 */
export class LogView {
  private readonly runStarts: number[] = [];
  private readonly runTerms: number[] = [];
  private first: number;
  private last: number;
  private latestSnapshot: TermIndex | undefined;

  constructor(options: {
    startIndex: number;
    lastIndex: number;
    termRuns: readonly TermIndex[];
    snapshot: TermIndex | undefined;
    commitIndex: number;
  }) {
    this.latestSnapshot = options.snapshot;
    const snapshotIndex = options.snapshot?.index ?? -1;
    const empty = options.lastIndex < options.startIndex || options.lastIndex < snapshotIndex;
    this.first = empty ? Math.max(options.commitIndex, snapshotIndex) + 1 : options.startIndex;
    this.last = empty ? this.first - 1 : options.lastIndex;
    if (!empty) {
      for (const run of options.termRuns) {
        this.runStarts.push(run.index);
        this.runTerms.push(run.term);
      }
      assert((this.runStarts[0] ?? Infinity) <= this.first, 'the terms of the log are incomplete');
    }
  }

  /** First index held; `lastIndex + 1` when the log is empty. */
  get startIndex(): number {
    return this.first;
  }

  get lastIndex(): number {
    return this.last;
  }

  get nextIndex(): number {
    return this.last + 1;
  }

  get isEmpty(): boolean {
    return this.last < this.first;
  }

  get snapshot(): TermIndex | undefined {
    return this.latestSnapshot;
  }

  get snapshotIndex(): number {
    return this.latestSnapshot?.index ?? -1;
  }

  /** Last entry, or the snapshot when the log is empty (spec: consensus 0.2). */
  get lastEntry(): TermIndex | undefined {
    if (this.isEmpty) return this.latestSnapshot;
    return { term: this.runTerms[this.runTerms.length - 1] as number, index: this.last };
  }

  /** Term of an entry of the log or of the snapshot; undefined when it is not known. */
  termAt(index: number): number | undefined {
    if (index > this.last || index < this.first) {
      return index === this.latestSnapshot?.index ? this.latestSnapshot.term : undefined;
    }
    let high = this.runStarts.length - 1;
    if ((this.runStarts[high] as number) <= index) return this.runTerms[high];
    let low = 0;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.runStarts[middle] as number) <= index) low = middle;
      else high = middle - 1;
    }
    return this.runTerms[low];
  }

  /** Position just before `index`; undefined at 0, or when it is not known any more. */
  previousOf(index: number): TermIndex | undefined {
    const term = index > 0 ? this.termAt(index - 1) : undefined;
    return term === undefined ? undefined : { term, index: index - 1 };
  }

  /** The log or the snapshot holds exactly this position (spec: consensus 0.2). */
  contains(position: TermIndex): boolean {
    return this.termAt(position.index) === position.term;
  }

  append(term: number, index: number): void {
    assert(index === this.last + 1, `entry ${index} appended behind ${this.last}`);
    const runs = this.runTerms.length;
    const lastTerm = runs === 0 ? 0 : (this.runTerms[runs - 1] as number);
    assert(term >= lastTerm, `term ${term} of entry ${index} is below ${lastTerm}`);
    if (runs === 0 || term !== lastTerm) {
      this.runStarts.push(index);
      this.runTerms.push(term);
    }
    this.last = index;
  }

  /** Removes `from` and everything behind it. */
  truncate(from: number): void {
    assert(from >= this.first && from <= this.last, `truncation at ${from} is outside of the log`);
    this.last = from - 1;
    while (this.runStarts.length > 0 && (this.runStarts.at(-1) as number) >= from) {
      this.runStarts.pop();
      this.runTerms.pop();
    }
  }

  /** Entries below `startIndex` are gone. */
  purge(startIndex: number): void {
    if (startIndex <= this.first) return;
    this.first = Math.min(startIndex, this.last + 1);
    let gone = 0;
    while (gone + 1 < this.runStarts.length && (this.runStarts[gone + 1] as number) <= this.first) {
      gone++;
    }
    this.runStarts.splice(0, gone);
    this.runTerms.splice(0, gone);
    if (this.isEmpty) this.clear();
  }

  /**
   * A newer snapshot; when it reaches beyond the log, the log starts anew behind it. True in that
   * case.
   */
  setSnapshot(snapshot: TermIndex): boolean {
    if (snapshot.index <= this.snapshotIndex) return false;
    this.latestSnapshot = snapshot;
    if (snapshot.index <= this.last) return false;
    this.first = snapshot.index + 1;
    this.last = snapshot.index;
    this.clear();
    return true;
  }

  private clear(): void {
    this.runStarts.length = 0;
    this.runTerms.length = 0;
  }
}
