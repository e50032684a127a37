import { open, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type LogEntry, nodeFileSystem, nodeRuntime, type RaftStorage } from 'kontiki';
import {
  createStateMachineEntry,
  openLog,
  openStorage,
  type RaftLog,
  type RaftLogConfig,
} from 'kontiki/testing';

const BLOCK_BYTES = 4096;
const MEBIBYTE = 1 << 20;
const SILENT = { isEnabled: () => false, log: () => undefined };

/** Rate and latencies of one kind of operation. */
export interface Measurement {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
}

function summarize(latenciesMs: number[], elapsedMs: number, perLatency = 1): Measurement {
  latenciesMs.sort((a, b) => a - b);
  const at = (share: number) =>
    latenciesMs[Math.min(latenciesMs.length - 1, Math.floor(latenciesMs.length * share))] ?? 0;
  return {
    perSecond: (latenciesMs.length * perLatency * 1000) / elapsedMs,
    p50Ms: at(0.5),
    p99Ms: at(0.99),
    maxMs: latenciesMs.at(-1) ?? 0,
  };
}

async function writeAndSync(
  path: string,
  durationMs: number,
  preallocatedBytes: number,
): Promise<Measurement> {
  const file = await open(path, 'w');
  try {
    if (preallocatedBytes > 0) {
      const zeros = Buffer.alloc(MEBIBYTE);
      for (let at = 0; at < preallocatedBytes; at += MEBIBYTE) {
        await file.write(zeros, 0, MEBIBYTE, at);
      }
      await file.sync();
    }
    const block = Buffer.alloc(BLOCK_BYTES, 0x5a);
    const latencies: number[] = [];
    const start = performance.now();
    for (let now = start, at = 0; now - start < durationMs; at += BLOCK_BYTES) {
      await file.write(block, 0, BLOCK_BYTES, preallocatedBytes > 0 ? at % preallocatedBytes : at);
      await file.datasync();
      const done = performance.now();
      latencies.push(done - now);
      now = done;
    }
    return summarize(latencies, performance.now() - start);
  } finally {
    await file.close();
    await rm(path);
  }
}

/**
 * The floor under every durable write: 4 KiB and `fdatasync`, one at a time, at a file's growing
 * end and inside preallocated space.
 */
export async function measureFdatasync(options: {
  readonly directory: string;
  readonly durationMs: number;
}): Promise<{ readonly append: Measurement; readonly preallocated: Measurement }> {
  const path = join(options.directory, 'fdatasync-floor');
  return {
    append: await writeAndSync(path, options.durationMs, 0),
    preallocated: await writeAndSync(path, options.durationMs, 64 * MEBIBYTE),
  };
}

const CONFIG: RaftLogConfig = {
  segmentSizeMaxBytes: 32 * MEBIBYTE,
  preallocatedSizeBytes: 4 * MEBIBYTE,
  writeBufferSizeBytes: 8 * MEBIBYTE,
  segmentCacheNumMax: 6,
  segmentCacheSizeMaxBytes: 200 * MEBIBYTE,
  queueElementLimit: 4096,
  queueByteLimitBytes: 64 * MEBIBYTE,
  entrySizeMaxBytes: 4 * MEBIBYTE,
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

export interface LogAppendMeasurement {
  readonly entriesPerSecond: number;
  readonly megabytesPerSecond: number;
  readonly entriesPerFlush: number;
  /** CPU time of the whole process per entry, microseconds. */
  readonly cpuMicrosPerEntry: number;
}

export interface LogAppendOptions {
  readonly directory: string;
  readonly durationMs: number;
  readonly entryBytes: number;
  /** Entries that are appended and not yet durable. */
  readonly inFlight: number;
}

/** Keeps a log busy, and counts what became durable. */
class AppendLoad {
  readonly #options: LogAppendOptions;
  readonly #logData: Uint8Array;
  readonly #clientId = new Uint8Array(16).fill(1);
  flushes = 0;
  flushedIndex = -1;

  constructor(options: LogAppendOptions) {
    this.#options = options;
    this.#logData = new Uint8Array(options.entryBytes).fill(0x5a);
  }

  /** Resolves with the log when the time is over and everything is durable. */
  async run(storage: RaftStorage): Promise<RaftLog> {
    const endMs = performance.now() + this.#options.durationMs;
    let finish: (error?: Error) => void = () => undefined;
    const finished = new Promise<void>((resolve, reject) => {
      finish = (error) => (error === undefined ? resolve() : reject(error));
    });
    const { log } = await openLog({
      storage,
      config: { ...CONFIG, queueElementLimit: this.#options.inFlight },
      dataStore: undefined,
      snapshotIndex: -1,
      fs: nodeFileSystem(),
      runtime: nodeRuntime(),
      logger: SILENT,
      listener: {
        onFlushed: ({ index }) => {
          this.flushes++;
          this.flushedIndex = index;
          log.setPositions({ appliedIndex: index, snapshotIndex: -1, followerNextIndices: [] });
          if (performance.now() < endMs) this.#fill(log);
          else if (log.pendingEntries === 0) finish();
        },
        onFailed: (error) => finish(error),
      },
    });
    this.#fill(log);
    await finished;
    return log;
  }

  #fill(log: RaftLog): void {
    const entries: LogEntry[] = [];
    const last = this.flushedIndex + this.#options.inFlight;
    for (let index = log.lastIndex + 1; index <= last; index++) {
      entries.push(
        createStateMachineEntry({
          term: 1,
          index,
          logData: this.#logData,
          data: undefined,
          type: 0,
          clientId: this.#clientId,
          callId: index,
        }),
      );
    }
    log.append(entries, 0);
  }
}

/** Appends entries with a number of them in flight, for a while, on a storage root of its own. */
export async function measureLogAppend(options: LogAppendOptions): Promise<LogAppendMeasurement> {
  const fs = nodeFileSystem();
  const storage = await openStorage({
    volumes: [options.directory],
    groupUuid: crypto.randomUUID(),
    startupOption: 'FORMAT',
    freeSpaceMinBytes: 0,
    fs,
    runtime: nodeRuntime(),
    logger: SILENT,
  });
  const load = new AppendLoad(options);
  const start = performance.now();
  const cpu = process.cpuUsage();
  const log = await load.run(storage);
  const elapsedMs = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  await log.close();
  await storage.close();
  await fs.removeTree(storage.rootDirectory);
  const entries = load.flushedIndex + 1;
  return {
    entriesPerSecond: (entries * 1000) / elapsedMs,
    megabytesPerSecond: (entries * options.entryBytes) / 1000 / elapsedMs,
    entriesPerFlush: entries / load.flushes,
    cpuMicrosPerEntry: (user + system) / entries,
  };
}
