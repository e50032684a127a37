import { parseStoredEntry } from '../proto/wire/index.js';
import type { LogEntry } from '../proto/wire/types.js';
import { systemCodeOf } from '../runtime/vfs/errors.js';
import type { VirtualFile, VirtualFileSystem } from '../runtime/vfs/types.js';
import { crc32c } from './crc32c.js';
import { RaftLogIOException, StorageCorruptedError, toStorageError } from './errors.js';
import { joinPath } from './paths.js';
import type { Segment } from './segment.js';
import { CHECKSUM_BYTES, readChecksum, readLengthPrefix } from './segment-format.js';

/** A rename can be under way whenever a file is opened by name. */
const OPEN_ATTEMPTS = 3;

interface Extent {
  readonly index: number;
  readonly term: number;
  readonly offset: number;
  readonly sizeBytes: number;
}

/**
 * Reads entries that are no longer cached. Reads just their range of the file, not the whole
 * segment as the other implementation does: a follower that lags must not fill the cache (spec:
 * storage 5.6).
 */
export class EntryReader {
  readonly #fs: VirtualFileSystem;
  readonly #directory: string;

  constructor(fs: VirtualFileSystem, directory: string) {
    this.#fs = fs;
    this.#directory = directory;
  }

  /**
   * Entries from..to of one segment, checked. Rejects with RaftLogIOException or
   * StorageCorruptedError.
   */
  async read(segment: Segment, from: number, to: number): Promise<LogEntry[]> {
    // Taken before the first wait: a truncation may change the segment meanwhile.
    const extents: Extent[] = [];
    for (let index = from; index <= to; index++) {
      extents.push({
        index,
        term: segment.termOf(index),
        offset: segment.offsetOf(index),
        sizeBytes: segment.recordSizeOf(index),
      });
    }
    const start = segment.offsetOf(from);
    const bytes = new Uint8Array(segment.offsetOf(to + 1) - start);
    const file = await this.#open(segment);
    try {
      const got = await file.read(bytes, start);
      if (got < bytes.length) throw this.#gone(from, 'the file is too short');
    } catch (error) {
      throw toStorageError(error, `reading entries ${from} to ${to} failed`);
    } finally {
      await file.close();
    }
    const path = joinPath(this.#directory, segment.diskName);
    return extents.map((extent) => this.#decode(bytes, extent.offset - start, extent, path));
  }

  async #open(segment: Segment): Promise<VirtualFile> {
    for (let attempt = 1; ; attempt++) {
      const name = segment.diskName;
      try {
        return await this.#fs.open(joinPath(this.#directory, name), 'r');
      } catch (error) {
        if (systemCodeOf(error) === 'ENOENT' && attempt < OPEN_ATTEMPTS) continue;
        throw toStorageError(error, `opening segment ${name} failed`);
      }
    }
  }

  #decode(bytes: Uint8Array, at: number, extent: Extent, path: string): LogEntry {
    const record = bytes.subarray(at, at + extent.sizeBytes);
    const protoEnd = record.length - CHECKSUM_BYTES;
    const prefix = readLengthPrefix(record, 0);
    if (
      prefix.kind !== 'ok' ||
      prefix.sizeBytes + prefix.value !== protoEnd ||
      crc32c(record, 0, protoEnd) !== readChecksum(record, protoEnd)
    ) {
      throw new StorageCorruptedError(path, extent.offset, `entry ${extent.index} is unreadable`);
    }
    const entry = parseStoredEntry(record.subarray(prefix.sizeBytes, protoEnd));
    if (entry.index !== extent.index || entry.term !== extent.term) {
      throw this.#gone(extent.index, 'another entry is in its place');
    }
    return entry;
  }

  #gone(index: number, why: string): RaftLogIOException {
    return new RaftLogIOException(`entry ${index} is gone: ${why}`);
  }
}
