import { KontikiError, messageOf } from '../common/errors.js';
import { systemCodeOf } from '../runtime/vfs/errors.js';

/** Another process, or another division of this one, holds the storage root (spec: storage 1.6). */
export class StorageLockedError extends KontikiError {
  readonly code = 'KONTIKI_STORAGE_LOCKED';
}

/**
 * The storage root has no raft-meta, but is not empty either: it can be neither recovered nor
 * formatted (spec: storage 1.2).
 */
export class StorageNotFormattedError extends KontikiError {
  readonly code = 'KONTIKI_STORAGE_NOT_FORMATTED';
}

/** FORMAT was asked for, but the group has a directory already (spec: storage 1.3). */
export class StorageExistsError extends KontikiError {
  readonly code = 'KONTIKI_STORAGE_EXISTS';
}

/**
 * RECOVER cannot tell which volume holds the group: it is on none of several, or on more than one
 * (spec: storage 1.3).
 */
export class StorageVolumeError extends KontikiError {
  readonly code = 'KONTIKI_STORAGE_VOLUME';
}

/** The storage root cannot be created, is not a directory, or cannot be written. */
export class StorageUnavailableError extends KontikiError {
  readonly code = 'KONTIKI_STORAGE_UNAVAILABLE';
}

/**
 * No space on the volume: a write met ENOSPC or EDQUOT, or less than
 * `raft.server.storage.free-space.min` is free.
 */
export class NoSpaceError extends KontikiError {
  readonly code = 'KONTIKI_NO_SPACE';
}

/** A file is damaged. The file is left as it was found (spec: storage 5). */
export class StorageCorruptedError extends KontikiError {
  readonly code = 'KONTIKI_STORAGE_CORRUPTED';
  readonly file: string;
  /** Byte position in the file, when known. */
  readonly position: number | undefined;

  constructor(file: string, position: number | undefined, what: string, cause?: unknown) {
    const where = position === undefined ? file : `${file} at byte ${position}`;
    super(`${where} is damaged: ${what}`, cause === undefined ? undefined : { cause });
    this.file = file;
    this.position = position;
  }
}

/**
 * The log cannot be written or read, or is closed; after a failed write it stays failed (spec:
 * storage 6.4).
 */
export class RaftLogIOException extends KontikiError {
  readonly code = 'KONTIKI_LOG_IO';
}

/** A leader sent pieces of a snapshot that do not fit together (spec: storage 11). */
export class SnapshotTransferError extends KontikiError {
  readonly code = 'KONTIKI_SNAPSHOT_TRANSFER';
}

/** State machine data did not become durable in time (spec: storage 8). */
export class StateMachineDataTimeoutError extends KontikiError {
  readonly code = 'KONTIKI_DATA_SYNC_TIMEOUT';
}

/** What a failed file operation means to the user. */
export function toStorageError(thrown: unknown, action: string): KontikiError {
  if (thrown instanceof KontikiError) return thrown;
  const code = systemCodeOf(thrown);
  const message = `${action}: ${messageOf(thrown)}`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return new NoSpaceError(message, { cause: thrown });
  return new RaftLogIOException(message, { cause: thrown });
}
