import { messageOf } from '../common/errors.js';
import { parseStoredEntry, parseWireEntry } from '../proto/wire/index.js';
import type { LogEntry } from '../proto/wire/types.js';
import { NumberOutOfRangeException } from '../protocol/exceptions.js';
import { crc32c } from './crc32c.js';
import { StorageCorruptedError } from './errors.js';
import type { FileWindow } from './file-window.js';
import {
  CHECKSUM_BYTES,
  HEADER_BYTES,
  readChecksum,
  readLengthPrefix,
  recordSize,
  SEGMENT_HEADER,
  type SegmentName,
} from './segment-format.js';
import { isTornRecord } from './torn-tail.js';

const PREFIX_LOOK_AHEAD_BYTES = 16;

/** How the records of a file end. */
export interface ScanEnd {
  /** Position behind the last good record; 0 when not even the header is there. */
  readonly totalBytes: number;
  /** The last record was cut short by a crash. */
  readonly isTorn: boolean;
  /** What the corruption policy decides about. */
  readonly damage: StorageCorruptedError | undefined;
}

export interface ScanOptions {
  /** Full path, for errors. */
  readonly path: string;
  readonly name: SegmentName;
  readonly entrySizeMaxBytes: number;
  /** Called with each entry, in order. Its bytes are valid during the call only. */
  readonly onEntry: (entry: LogEntry, recordBytes: number) => void;
  /** Highest commit index known so far; asked when a record is bad. */
  readonly knownCommitIndex: () => number;
}

type RecordResult =
  | { readonly kind: 'entry'; readonly entry: LogEntry; readonly sizeBytes: number }
  | { readonly kind: 'end' | 'torn' }
  | { readonly kind: 'damage'; readonly position: number; readonly what: string };

/** Reads a segment file record by record (spec: storage 5.1, 5.2). */
export class SegmentScanner {
  readonly #window: FileWindow;
  readonly #options: ScanOptions;
  #position = HEADER_BYTES;
  #nextIndex: number;

  constructor(window: FileWindow, options: ScanOptions) {
    this.#window = window;
    this.#options = options;
    this.#nextIndex = options.name.startIndex;
  }

  /**
   * Scans to the end of the records. Throws StorageCorruptedError for what no policy covers: a gap,
   * a wrong first index, state machine data in the file; NumberOutOfRangeException for a term or
   * index beyond 2^53.
   */
  async scan(): Promise<ScanEnd> {
    const header = await this.#scanHeader();
    if (header !== undefined) return header;
    const { endIndex } = this.#options.name;
    while (endIndex === undefined || this.#nextIndex <= endIndex) {
      const result = await this.#scanRecord();
      if (result.kind === 'entry') this.#accept(result.entry, result.sizeBytes);
      else if (result.kind === 'damage') {
        return this.#end(false, this.#damaged(result.position, result.what));
      } else return this.#end(result.kind === 'torn', undefined);
    }
    return this.#end(false, undefined);
  }

  #end(isTorn: boolean, damage: StorageCorruptedError | undefined): ScanEnd {
    return { totalBytes: this.#position, isTorn, damage };
  }

  #damaged(position: number, what: string, cause?: unknown): StorageCorruptedError {
    return new StorageCorruptedError(this.#options.path, position, what, cause);
  }

  async #scanHeader(): Promise<ScanEnd | undefined> {
    await this.#window.fill(0, HEADER_BYTES);
    const found = this.#window.bytesAt(0).subarray(0, HEADER_BYTES);
    const wrong = SEGMENT_HEADER.findIndex((byte, i) => byte !== found[i]);
    if (wrong < 0) return undefined;
    this.#position = 0;
    const nonZero = await this.#window.firstNonZero(wrong);
    if (nonZero === undefined) return this.#end(false, undefined);
    return this.#end(false, this.#damaged(nonZero, 'the file header is wrong'));
  }

  async #scanRecord(): Promise<RecordResult> {
    const position = this.#position;
    const window = this.#window;
    if (position >= window.sizeBytes) return { kind: 'end' };
    if (!window.holds(position, PREFIX_LOOK_AHEAD_BYTES)) {
      await window.fill(position, PREFIX_LOOK_AHEAD_BYTES);
    }
    const prefix = readLengthPrefix(window.bytesAt(position), 0);
    if (window.bytesAt(position)[0] === 0) return this.#scanPadding();
    if (prefix.kind === 'malformed') return { kind: 'damage', position, what: 'malformed length' };
    if (prefix.kind === 'cut') return this.#badRecord(undefined, 'the length is cut');
    const protoBytes = prefix.value;
    if (protoBytes <= 0 || recordSize(protoBytes) > this.#options.entrySizeMaxBytes) {
      return { kind: 'damage', position, what: `entry of ${protoBytes} bytes` };
    }
    const sizeBytes = prefix.sizeBytes + protoBytes + CHECKSUM_BYTES;
    if (position + sizeBytes > window.sizeBytes) {
      return this.#badRecord(position + sizeBytes, 'the record runs past the end of the file');
    }
    if (!window.holds(position, sizeBytes)) await window.fill(position, sizeBytes);
    const bytes = window.bytesAt(position);
    const protoEnd = prefix.sizeBytes + protoBytes;
    if (crc32c(bytes, 0, protoEnd) !== readChecksum(bytes, protoEnd)) {
      return this.#badRecord(position + sizeBytes, 'the checksum of a record differs');
    }
    return this.#parse(bytes.subarray(prefix.sizeBytes, protoEnd), sizeBytes);
  }

  async #scanPadding(): Promise<RecordResult> {
    const nonZero = await this.#window.firstNonZero(this.#position);
    if (nonZero === undefined) return { kind: 'end' };
    return {
      kind: 'damage',
      position: nonZero,
      what: 'bytes other than zero behind the last record',
    };
  }

  async #badRecord(recordEnd: number | undefined, what: string): Promise<RecordResult> {
    const { name, entrySizeMaxBytes, knownCommitIndex } = this.#options;
    const position = this.#position;
    const mayBeTorn = name.endIndex === undefined && this.#nextIndex > knownCommitIndex();
    if (mayBeTorn && (await isTornRecord(this.#window, position, recordEnd, entrySizeMaxBytes))) {
      return { kind: 'torn' };
    }
    return { kind: 'damage', position, what };
  }

  #parse(proto: Uint8Array, sizeBytes: number): RecordResult {
    try {
      return { kind: 'entry', entry: parseStoredEntry(proto), sizeBytes };
    } catch (error) {
      if (error instanceof NumberOutOfRangeException) throw error;
      this.#refuseStateMachineData(proto);
      return { kind: 'damage', position: this.#position, what: messageOf(error) };
    }
  }

  /**
   * State machine data in the file is a fault of the writer, not of the disk: no policy may cut it
   * away.
   */
  #refuseStateMachineData(proto: Uint8Array): void {
    let entry: LogEntry;
    try {
      entry = parseWireEntry(proto);
    } catch {
      // Malformed in every form: the caller reports the first error.
      return;
    }
    if (entry.data !== undefined) {
      throw this.#damaged(this.#position, `entry ${entry.index} holds state machine data`);
    }
  }

  #accept(entry: LogEntry, sizeBytes: number): void {
    if (entry.index !== this.#nextIndex) {
      const what = `entry ${entry.index} where ${this.#nextIndex} belongs`;
      throw this.#damaged(this.#position, what);
    }
    this.#options.onEntry(entry, sizeBytes);
    this.#position += sizeBytes;
    this.#nextIndex++;
  }
}
