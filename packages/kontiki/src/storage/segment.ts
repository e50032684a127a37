import type { EntryKind } from '../proto/wire/types.js';
import type { TermIndex } from '../protocol/term-index.js';
import { closedName, HEADER_BYTES, openName } from './segment-format.js';

const INITIAL_CAPACITY = 64;
const KIND_MASK = 0x0f;
const HAS_DATA = 0x10;

/**
 * Headers of the entries of one segment, always in memory: position in the file, size on the wire,
 * kind, and the terms as runs (spec: storage 5.6). 13 bytes an entry.
 */
export class Segment {
  readonly startIndex: number;
  /**
   * Name that the file has on disk at this moment; the writer sets it when a queued rename is done.
   */
  diskName: string;
  #count = 0;
  #closed = false;
  /** Record i reaches from #offsets[i] to #offsets[i + 1]. */
  #offsets = new Float64Array(INITIAL_CAPACITY + 1);
  #fullSizes = new Uint32Array(INITIAL_CAPACITY);
  #flags = new Uint8Array(INITIAL_CAPACITY);
  #runs: TermIndex[] = [];

  constructor(startIndex: number) {
    this.startIndex = startIndex;
    this.diskName = openName(startIndex);
    this.#offsets[0] = HEADER_BYTES;
  }

  get count(): number {
    return this.#count;
  }

  /** Index of the last entry; startIndex - 1 when empty. */
  get endIndex(): number {
    return this.startIndex + this.#count - 1;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /** Size of the file without padding. */
  get sizeBytes(): number {
    return this.#offsets[this.#count] ?? HEADER_BYTES;
  }

  /** Name that the file has once everything queued is done. */
  get name(): string {
    return this.#closed ? closedName(this.startIndex, this.endIndex) : openName(this.startIndex);
  }

  get termRuns(): readonly TermIndex[] {
    return this.#runs;
  }

  get lastTerm(): number | undefined {
    return this.#runs.at(-1)?.term;
  }

  has(index: number): boolean {
    return index >= this.startIndex && index <= this.endIndex;
  }

  add(
    term: number,
    kind: EntryKind,
    hasData: boolean,
    recordBytes: number,
    fullSizeBytes: number,
  ): void {
    if (this.#count === this.#flags.length) this.#resize(this.#count * 2);
    const at = this.#count++;
    this.#offsets[at + 1] = (this.#offsets[at] ?? 0) + recordBytes;
    this.#fullSizes[at] = fullSizeBytes;
    this.#flags[at] = kind | (hasData ? HAS_DATA : 0);
    if (this.lastTerm !== term) this.#runs.push({ term, index: this.startIndex + at });
  }

  /** Byte position of the record of `index`; of endIndex + 1: the end. */
  offsetOf(index: number): number {
    return this.#offsets[index - this.startIndex] ?? this.sizeBytes;
  }

  recordSizeOf(index: number): number {
    return this.offsetOf(index + 1) - this.offsetOf(index);
  }

  fullSizeOf(index: number): number {
    return this.#fullSizes[index - this.startIndex] ?? 0;
  }

  kindOf(index: number): EntryKind {
    return ((this.#flags[index - this.startIndex] ?? 0) & KIND_MASK) as EntryKind;
  }

  hasDataAt(index: number): boolean {
    return ((this.#flags[index - this.startIndex] ?? 0) & HAS_DATA) !== 0;
  }

  termOf(index: number): number {
    for (let i = this.#runs.length - 1; i >= 0; i--) {
      const run = this.#runs[i];
      if (run !== undefined && run.index <= index) return run.term;
    }
    return 0;
  }

  /** No entry follows; memory is cut to size. */
  close(): void {
    this.#closed = true;
    this.#resize(Math.max(1, this.#count));
  }

  /**
   * Drops entries from `index` on (at least one entry must remain), and closes the segment (spec:
   * storage 7.1).
   */
  truncateFrom(index: number): void {
    this.#count = index - this.startIndex;
    this.#runs = this.#runs.filter((run) => run.index < index);
    this.close();
  }

  #resize(capacity: number): void {
    const offsets = new Float64Array(capacity + 1);
    offsets.set(this.#offsets.subarray(0, this.#count + 1));
    this.#offsets = offsets;
    const fullSizes = new Uint32Array(capacity);
    fullSizes.set(this.#fullSizes.subarray(0, this.#count));
    this.#fullSizes = fullSizes;
    const flags = new Uint8Array(capacity);
    flags.set(this.#flags.subarray(0, this.#count));
    this.#flags = flags;
  }
}
