import type { LogEntry } from '../proto/wire/types.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import type { RaftPeerId } from '../protocol/ids.js';
import type { TermIndex } from '../protocol/term-index.js';

/** What one group's storage root is opened for (spec: storage 1.2, 1.3). */
export type StartupOption = 'FORMAT' | 'RECOVER';

/** Persistent term and vote; `votedFor` undefined is none (spec: H-16). */
export interface RaftMetadata {
  readonly term: number;
  readonly votedFor: RaftPeerId | undefined;
}

/**
 * Storage root of one group: directory, lock, raft-meta, raft-meta.conf (spec: storage 1-3). Made
 * by `openStorage(options)`, which chooses the volume, takes the lock and formats or recovers.
 */
export interface RaftStorage {
  /** `<volume>/<group uuid>`. */
  readonly rootDirectory: string;
  readonly currentDirectory: string;
  readonly stateMachineDirectory: string;
  readonly temporaryDirectory: string;
  /** As last persisted. */
  readonly metadata: RaftMetadata;
  /**
   * Writes raft-meta atomically and durably, before it resolves. Calls are carried out in order;
   * equal to the last one: nothing is written.
   */
  persistMetadata(metadata: RaftMetadata): Promise<void>;
  /** The configuration of raft-meta.conf, undefined when missing or unreadable (logged). */
  readConfiguration(): Promise<RaftConfiguration | undefined>;
  /** Writes raft-meta.conf atomically (spec: storage 3). */
  persistConfiguration(configuration: RaftConfiguration): Promise<void>;
  /** `current/raft-meta` exists. */
  isHealthy(): Promise<boolean>;
  /** Releases the lock. Idempotent. */
  close(): Promise<void>;
}

/**
 * State machine data beside the log (spec: consensus 6.4, storage 8), as the log calls it; `server`
 * adapts the user's DataApi to it. Calls are made synchronously in log order. Absent when the state
 * machine has no data API.
 */
export interface LogDataStore {
  /** Called as an entry with data is queued. A throw fails the append. */
  write(entry: LogEntry): Promise<void>;
  /**
   * For replication when the data is no longer at hand: must give non-empty data of the entry's
   * size.
   */
  read(entry: LogEntry): Promise<Uint8Array>;
  /**
   * Called as a DATASTREAM entry without data is queued; awaited before the entry is durable (spec:
   * H-15).
   */
  link(entry: LogEntry): Promise<void>;
  /**
   * Everything up to `index` was handed over; awaited before (sync) or after (not sync) the log's
   * flush.
   */
  flush(index: number): Promise<void>;
  /** Entries from `index` on are removed. */
  truncate(index: number): Promise<void>;
}

/** What the log tells its owner. Called from fresh turns, never inside a call to the log. */
export interface RaftLogListener {
  /**
   * Everything up to `flushed` is durable (state machine data included), under this truncation
   * generation. Batched: one call a flush.
   */
  onFlushed(flushed: TermIndex, generation: number): void;
  /**
   * The log failed; nothing more becomes durable until restart (spec: storage 6.4). `entry` names
   * the write that failed.
   */
  onFailed(error: Error, entry: LogEntry | undefined): void;
}

/**
 * The log of one division (spec: storage 4-7). `append`, `truncate`, `purge` change the memory
 * state at once (reads see it) and queue the disk work; everything is written strictly in order,
 * all that is queued in one `writev` and one `fdatasync`. Made by `openLog(options)`.
 */
export interface RaftLog {
  readonly startIndex: number;
  /** Index of the last entry; startIndex - 1 when empty. */
  readonly lastIndex: number;
  readonly lastTermIndex: TermIndex | undefined;
  readonly flushIndex: number;
  /** Bytes and entries queued and not yet durable. */
  readonly pendingBytes: number;
  readonly pendingEntries: number;

  /**
   * Queues entries with consecutive positions behind the last one. `generation` comes back in
   * `onFlushed`. Throws InvalidArgumentError on a gap or an entry above the limit,
   * RaftLogIOException (code KONTIKI_LOG_IO) when the log failed before or is closed. Entries whose
   * data was handed over keep it in the cache (until evicted). Returns false when the queue is
   * above its limits: the caller must slow its sources until `whenDrained` calls.
   */
  append(entries: readonly LogEntry[], generation: number): boolean;
  whenDrained(callback: () => void): void;
  /** Removes entries from `index` on. */
  truncate(index: number, generation: number): void;
  /**
   * Removes whole closed segments with end <= index; subject to the gap and preservation rules
   * unless `force` (spec: storage 7). Returns the new start index.
   */
  purge(index: number, force?: boolean): number;

  /**
   * A snapshot at `snapshotIndex` is in place: everything that it covers is removed as `purge`
   * does, and a log that ends before it goes on behind it. Entries behind it stay (spec: storage
   * 11, 14.6 to 14.8).
   */
  installSnapshot(snapshotIndex: number): void;
  /** Resolves when everything asked for so far is on disk; rejects when the log failed. */
  settled(): Promise<void>;

  /** Term, kind and size of an entry, or undefined. From memory, never from the disk. */
  termAt(index: number): number | undefined;
  kindAt(index: number): LogEntry['kind'] | undefined;
  /** Serialized size on the wire, state machine data included. */
  wireSizeAt(index: number): number | undefined;
  /** The entry if it is cached (its data may be absent). */
  getCached(index: number): LogEntry | undefined;
  /**
   * Entries from..to (inclusive), in order, with their state machine data when `withData` (spec:
   * storage 8, reading for replication), cut at `maxBytes` of wire size (but at least one) and
   * `maxCount`. Rejects with RaftLogIOException when an entry is gone or unreadable. Synchronous
   * when everything is cached.
   */
  read(
    from: number,
    to: number,
    limits: { readonly maxBytes: number; readonly maxCount: number; readonly withData: boolean },
  ): LogEntry[] | Promise<LogEntry[]>;

  /** For cache eviction (spec: storage 5.7). */
  setPositions(positions: {
    readonly appliedIndex: number;
    readonly snapshotIndex: number;
    /** nextIndex of each follower when leader, else empty. */
    readonly followerNextIndices: readonly number[];
  }): void;
  /** Flushes what is queued, cuts the padding, closes the files (spec: storage 6.5). Idempotent. */
  close(): Promise<void>;
}

/** What `openLog` found besides the log itself; feeds the engine's state. */
export interface OpenedLog {
  readonly log: RaftLog;
  readonly termRuns: readonly TermIndex[];
  /** Configurations found in the log, ascending. */
  readonly configurations: readonly RaftConfiguration[];
  /** Commit index of the last metadata entry, -1 if none. */
  readonly lastMetadataCommitIndex: number;
}

/** Options of a log, from `raft.server.log.*` (spec: storage 13). */
export interface RaftLogConfig {
  readonly segmentSizeMaxBytes: number;
  readonly preallocatedSizeBytes: number;
  readonly writeBufferSizeBytes: number;
  readonly segmentCacheNumMax: number;
  readonly segmentCacheSizeMaxBytes: number;
  readonly queueElementLimit: number;
  readonly queueByteLimitBytes: number;
  /** `appender.buffer.byte-limit`: bounds an entry on disk and on the wire. */
  readonly entrySizeMaxBytes: number;
  readonly corruptionPolicy: 'EXCEPTION' | 'WARN_AND_RETURN';
  readonly purgeGap: number;
  readonly purgePreservationLogNum: number;
  readonly stateMachineDataSync: boolean;
  readonly stateMachineDataSyncTimeoutMs: number;
  /** -1: for ever. */
  readonly stateMachineDataSyncTimeoutRetry: number;
  readonly stateMachineDataReadTimeoutMs: number;
  readonly stateMachineDataCachingEnabled: boolean;
  readonly asyncFlushEnabled: boolean;
  readonly unsafeFlushEnabled: boolean;
}

/** Options of `openStorage`. */
export interface OpenStorageOptions {
  /** `raft.server.storage.dir`: one or more volumes. */
  readonly volumes: readonly string[];
  /** Canonical lower-case UUID text. */
  readonly groupUuid: string;
  readonly startupOption: StartupOption;
  /** `raft.server.storage.free-space.min`. */
  readonly freeSpaceMinBytes: number;
}
