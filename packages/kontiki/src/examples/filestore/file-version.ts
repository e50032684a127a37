import { crc32c } from '../../storage/crc32c.js';
import { StorageCorruptedError } from '../../storage/errors.js';
import type { DataFile } from './data-file.js';
import type { WriteHeader } from './messages.js';

/** A write that is in the log and not applied yet. */
interface OpenWrite {
  readonly index: number;
  readonly end: number;
  readonly close: boolean;
  readonly checksum: number | undefined;
}

/** Piece of a file as it was written: its length and its CRC-32C, -1 when unknown. */
export type Piece = readonly [lengthBytes: number, checksum: number];

/**
 * One version of a file: what was written at its path since a write at offset 0, whose log index is
 * the version's id. It is *applied* once that write is. Only applied bytes are ever shown to
 * readers.
 */
export class FileVersion {
  readonly path: string;
  readonly id: number;
  readonly file: DataFile;
  /**
   * False for a file that was found at start, as long as it is not known whether the log has the
   * write that made it.
   */
  isCertain: boolean;
  isApplied = false;
  isClosed = false;
  /** Applied bytes. */
  sizeBytes = 0;
  readonly #starts: number[] = [];
  readonly #pieces: Piece[] = [];
  #open: OpenWrite[] = [];
  /**
   * Where the next write in log order must start; undefined when that is not known, after a start.
   */
  #end: number | undefined;

  constructor(path: string, id: number, file: DataFile, isCertain: boolean) {
    this.path = path;
    this.id = id;
    this.file = file;
    this.isCertain = isCertain;
    this.#end = isCertain ? 0 : undefined;
  }

  get pieces(): readonly Piece[] {
    return this.#pieces;
  }

  /** Where the next write must start, as far as this server knows. */
  get expectedOffset(): number {
    return this.#end ?? this.sizeBytes;
  }

  /** No write can follow those that are in the log. */
  get isClosing(): boolean {
    return this.isClosed || this.#open.at(-1)?.close === true;
  }

  /** Whether data at `offset` can belong here. It never touches what is applied. */
  accepts(offset: number): boolean {
    if (this.isClosing || offset < this.sizeBytes) return false;
    return this.#end === undefined || offset === this.#end;
  }

  /** Data of the log entry at `index` is about to be written. */
  opened(index: number, header: WriteHeader): void {
    const { close, checksum } = header;
    this.#end = header.offset + header.length;
    this.#open.push({ index, end: this.#end, close, checksum });
  }

  hasOpenWrite(index: number): boolean {
    return this.#open.some((write) => write.index === index);
  }

  /** A write is applied: its bytes are visible from now on. */
  apply(index: number, header: WriteHeader): void {
    const own = this.#open.find((write) => write.index === index);
    this.#open = this.#open.filter((write) => write.index > index);
    if (header.length > 0) this.addPiece([header.length, own?.checksum ?? header.checksum ?? -1]);
    if (header.close) this.isClosed = true;
  }

  addPiece(piece: Piece): void {
    this.#starts.push(this.sizeBytes);
    this.#pieces.push(piece);
    this.sizeBytes += piece[0];
    if (this.#end !== undefined && this.#end < this.sizeBytes) this.#end = this.sizeBytes;
  }

  /**
   * Forgets writes of log entries from `index` on; the size to cut the file to, undefined when
   * there were none.
   */
  truncate(index: number): number | undefined {
    const kept = this.#open.filter((write) => write.index < index);
    if (kept.length === this.#open.length) return undefined;
    this.#open = kept;
    this.#end = kept.at(-1)?.end ?? this.sizeBytes;
    return this.#end;
  }

  /**
   * Applied bytes, checked against their checksums. The caller has checked the range. Rejects with
   * StorageCorruptedError when they differ or are missing.
   */
  async read(offset: number, length: number): Promise<Uint8Array> {
    if (length === 0) return new Uint8Array(0);
    const first = this.#pieceAt(offset);
    const last = this.#pieceAt(offset + length - 1);
    const from = this.#starts[first] ?? 0;
    const to = (this.#starts[last] ?? 0) + (this.#pieces[last]?.[0] ?? 0);
    const bytes = await this.file.read(from, to - from);
    for (let at = first; at <= last; at++) {
      const [pieceLength, checksum] = this.#pieces[at] ?? [0, -1];
      const start = (this.#starts[at] ?? 0) - from;
      if (checksum >= 0 && crc32c(bytes, start, start + pieceLength) !== checksum) {
        throw new StorageCorruptedError(this.file.path, from + start, 'its checksum differs');
      }
    }
    return bytes.subarray(offset - from, offset - from + length);
  }

  /** Index of the piece that holds the byte at `offset`. */
  #pieceAt(offset: number): number {
    let low = 0;
    let high = this.#starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
