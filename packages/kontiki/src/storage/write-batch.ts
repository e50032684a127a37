import type { LogEntry } from '../proto/wire/types.js';
import type { TermIndex } from '../protocol/term-index.js';
import { recordFrame, recordSize, writeRecord } from './segment-format.js';

/** Entries from this size on are not copied, but get their own place in the `writev`. */
const COPY_MAX_BYTES = 64 << 10;
const FIRST_CHUNK_BYTES = 16 << 10;
const CHUNK_BYTES = 1 << 20;
/** Chunks kept for reuse by all logs of this thread. */
const SPARE_CHUNKS_MAX = 8;
const spareChunks: Uint8Array[] = [];

function takeChunk(isFirst: boolean, neededBytes: number): Uint8Array {
  const spare = spareChunks.pop();
  if (spare !== undefined) return spare;
  return new Uint8Array(isFirst ? Math.max(FIRST_CHUNK_BYTES, neededBytes) : CHUNK_BYTES);
}

/** Work of the state machine that an entry waits for. The promise never rejects. */
export interface DataWork {
  readonly entry: LogEntry;
  /** Undefined when done, or why it failed. */
  readonly done: Promise<{ readonly error: unknown } | undefined>;
}

/**
 * Consecutive entries of one segment, one generation, on their way to the disk. Records are encoded
 * as entries are appended: small ones are joined in chunks, so that a batch of thousands is a few
 * buffers.
 */
export class WriteBatch {
  readonly generation: number;
  readonly firstIndex: number;
  readonly dataWork: DataWork[] = [];
  /** The last that a later truncation left. */
  validLastIndex: number;
  #lastEntry: LogEntry;
  #count = 0;
  #fullBytes = 0;
  #recordBytes = 0;
  readonly #buffers: Uint8Array[] = [];
  readonly #chunks: Uint8Array[] = [];
  #chunk: Uint8Array | undefined;
  #used = 0;
  #flushedFrom = 0;

  constructor(first: LogEntry, generation: number) {
    this.generation = generation;
    this.firstIndex = first.index;
    this.#lastEntry = first;
    this.validLastIndex = first.index;
  }

  get lastEntry(): LogEntry {
    return this.#lastEntry;
  }

  get last(): TermIndex {
    return { term: this.#lastEntry.term, index: this.#lastEntry.index };
  }

  get count(): number {
    return this.#count;
  }

  /** Bytes of the full entries, as the queue's limit counts them. */
  get fullBytes(): number {
    return this.#fullBytes;
  }

  get recordBytes(): number {
    return this.#recordBytes;
  }

  add(entry: LogEntry): void {
    const bytes = recordSize(entry.stored.length);
    if (bytes > COPY_MAX_BYTES) this.#addUncopied(entry.stored);
    else this.#addCopied(entry.stored, bytes);
    this.#recordBytes += bytes;
    this.#fullBytes += entry.fullSizeBytes;
    this.#count++;
    this.#lastEntry = entry;
    this.validLastIndex = entry.index;
  }

  /** What is to be written. Nothing may be added afterwards. */
  seal(): readonly Uint8Array[] {
    this.#endPart();
    return this.#buffers;
  }

  /** The buffers are written: gives them back. */
  recycle(): void {
    for (const chunk of this.#chunks) {
      if (chunk.length === CHUNK_BYTES && spareChunks.length < SPARE_CHUNKS_MAX) {
        spareChunks.push(chunk);
      }
    }
    this.#chunks.length = 0;
    this.#buffers.length = 0;
    this.#chunk = undefined;
  }

  #addCopied(stored: Uint8Array, bytes: number): void {
    let chunk = this.#chunk;
    if (chunk === undefined || this.#used + bytes > chunk.length) {
      this.#endPart();
      chunk = takeChunk(this.#chunks.length === 0, bytes);
      this.#chunk = chunk;
      this.#chunks.push(chunk);
      this.#used = 0;
      this.#flushedFrom = 0;
    }
    this.#used = writeRecord(chunk, this.#used, stored);
  }

  #addUncopied(stored: Uint8Array): void {
    this.#endPart();
    const { head, tail } = recordFrame(stored);
    this.#buffers.push(head, stored, tail);
  }

  #endPart(): void {
    if (this.#chunk === undefined || this.#used === this.#flushedFrom) return;
    this.#buffers.push(this.#chunk.subarray(this.#flushedFrom, this.#used));
    this.#flushedFrom = this.#used;
  }
}
