import { cp, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NULL_LOGGER } from '../common/logger.js';
import { createMetadataEntry, createStateMachineEntry } from '../proto/wire/index.js';
import type { LogEntry } from '../proto/wire/types.js';
import type { TermIndex } from '../protocol/term-index.js';
import { nodeFileSystem, nodeRuntime } from '../runtime/index.js';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';
import { openLog } from './open-log.js';
import type { LogDataStore, OpenedLog, RaftLog, RaftLogConfig } from './types.js';

/** Helpers of this folder's tests; not part of the library. */

/** Beside `src` and the folder of the compiled tests. */
export const TEST_DATA = fileURLToPath(new URL('../../test-data/storage/', import.meta.url));

export const CONFIG: RaftLogConfig = {
  segmentSizeMaxBytes: 32 << 20,
  preallocatedSizeBytes: 4 << 20,
  writeBufferSizeBytes: 8 << 20,
  segmentCacheNumMax: 6,
  segmentCacheSizeMaxBytes: 200 << 20,
  queueElementLimit: 4096,
  queueByteLimitBytes: 64 << 20,
  entrySizeMaxBytes: 4 << 20,
  corruptionPolicy: 'EXCEPTION',
  purgeGap: 1024,
  purgePreservationLogNum: 0,
  stateMachineDataSync: true,
  stateMachineDataSyncTimeoutMs: 10_000,
  stateMachineDataSyncTimeoutRetry: -1,
  stateMachineDataReadTimeoutMs: 1000,
  stateMachineDataCachingEnabled: false,
  asyncFlushEnabled: false,
  unsafeFlushEnabled: false,
};

export interface TestContext {
  after(done: () => Promise<void>): void;
}

export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kontiki-storage-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** A writable copy of a vector's folder. */
export async function copyOf(t: TestContext, ...path: string[]): Promise<string> {
  const folder = await temporaryFolder(t);
  await cp(join(TEST_DATA, ...path), folder, { recursive: true });
  await mkdir(folder, { recursive: true });
  return folder;
}

/** Names and sizes of the segment files. */
export async function segmentFiles(folder: string): Promise<Record<string, number>> {
  const sizes: Record<string, number> = {};
  for (const name of (await readdir(folder)).sort()) {
    if (name.startsWith('log_')) sizes[name] = (await stat(join(folder, name))).size;
  }
  return sizes;
}

const CLIENT_ID = Uint8Array.from({ length: 16 }, (_, i) => i);

export function entryOf(term: number, index: number, logBytes = 20, data?: Uint8Array): LogEntry {
  const logData = new Uint8Array(logBytes).map((_, i) => 1 + ((index * 7 + i) % 251));
  const callId = index;
  return createStateMachineEntry({
    term,
    index,
    logData,
    data,
    type: 0,
    clientId: CLIENT_ID,
    callId,
  });
}

export function metadataEntryOf(term: number, index: number, commitIndex: number): LogEntry {
  return createMetadataEntry(term, index, commitIndex);
}

export interface TestLogOptions {
  readonly config?: Partial<RaftLogConfig>;
  readonly fs?: VirtualFileSystem;
  readonly snapshotIndex?: number;
  readonly dataStore?: LogDataStore;
}

/** An open log, and what it told its listener. */
export class TestLog {
  readonly opened: OpenedLog;
  readonly flushes: { readonly flushed: TermIndex; readonly generation: number }[];
  readonly failures: { readonly error: Error; readonly entry: LogEntry | undefined }[];
  readonly #events: Set<() => void>;

  private constructor(
    opened: OpenedLog,
    flushes: TestLog['flushes'],
    failures: TestLog['failures'],
    events: Set<() => void>,
  ) {
    this.opened = opened;
    this.flushes = flushes;
    this.failures = failures;
    this.#events = events;
  }

  static async open(folder: string, options: TestLogOptions = {}): Promise<TestLog> {
    const flushes: TestLog['flushes'] = [];
    const failures: TestLog['failures'] = [];
    const events = new Set<() => void>();
    const opened = await openLog({
      storage: { currentDirectory: folder },
      config: { ...CONFIG, ...options.config },
      dataStore: options.dataStore,
      listener: {
        onFlushed: (flushed, generation) => {
          flushes.push({ flushed, generation });
          for (const event of events) event();
        },
        onFailed: (error, entry) => {
          failures.push({ error, entry });
          for (const event of events) event();
        },
      },
      snapshotIndex: options.snapshotIndex ?? -1,
      fs: options.fs ?? nodeFileSystem(),
      runtime: nodeRuntime(),
      logger: NULL_LOGGER,
    });
    return new TestLog(opened, flushes, failures, events);
  }

  get log(): RaftLog {
    return this.opened.log;
  }

  /** Resolves when `condition` holds; looks after each thing that the log tells. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.#events.delete(check);
        resolve();
      };
      this.#events.add(check);
      check();
    });
  }

  /** Everything appended is durable. */
  flushed(): Promise<void> {
    return this.until(() => this.log.flushIndex >= this.log.lastIndex);
  }

  failed(): Promise<void> {
    return this.until(() => this.failures.length > 0);
  }

  /** All entries, read as a follower would get them. */
  async entries(withData = false): Promise<LogEntry[]> {
    const limits = { maxBytes: 1 << 20, maxCount: 1000, withData };
    const all: LogEntry[] = [];
    for (let next = this.log.startIndex; next <= this.log.lastIndex; ) {
      const some = await this.log.read(next, this.log.lastIndex, limits);
      all.push(...some);
      next += some.length;
    }
    return all;
  }
}
