import { InvalidArgumentError } from '../common/errors.js';
import type { Logger } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';
import { DataSync } from './data-sync.js';
import { EntryReader } from './entry-reader.js';
import { loadSegments } from './load-segments.js';
import { LogWriter } from './log-writer.js';
import { SegmentedRaftLog } from './raft-log.js';
import { SegmentCache } from './segment-cache.js';
import { SegmentWriter } from './segment-writer.js';
import type {
  LogDataStore,
  OpenedLog,
  RaftLogConfig,
  RaftLogListener,
  RaftStorage,
} from './types.js';

/** A record's frame: the write buffer must hold the largest entry with it (spec: storage 6.3). */
const WRITE_BUFFER_MARGIN_BYTES = 8;

export interface OpenLogOptions {
  readonly storage: Pick<RaftStorage, 'currentDirectory'>;
  readonly config: RaftLogConfig;
  /** Undefined when the state machine keeps no data beside the log. */
  readonly dataStore: LogDataStore | undefined;
  readonly listener: RaftLogListener;
  /** Index of the state machine's latest snapshot, -1 if none. */
  readonly snapshotIndex: number;
  readonly fs: VirtualFileSystem;
  readonly runtime: Runtime;
  readonly logger: Logger;
}

function checkConfig(config: RaftLogConfig): void {
  if (config.asyncFlushEnabled && config.unsafeFlushEnabled) {
    throw new InvalidArgumentError('async-flush and unsafe-flush cannot both be enabled');
  }
  if (config.writeBufferSizeBytes < config.entrySizeMaxBytes + WRITE_BUFFER_MARGIN_BYTES) {
    throw new InvalidArgumentError(
      `write.buffer.size ${config.writeBufferSizeBytes} is below appender.buffer.byte-limit ` +
        `${config.entrySizeMaxBytes} + ${WRITE_BUFFER_MARGIN_BYTES}`,
    );
  }
}

/**
 * Opens the log of a division: loads the segments, repairs what a crash left, and continues the
 * open segment (spec: storage 5.4). Rejects with StorageCorruptedError on damage, with
 * InvalidArgumentError on contradictory settings.
 */
export async function openLog(options: OpenLogOptions): Promise<OpenedLog> {
  const { config, dataStore, fs, logger, runtime, snapshotIndex, storage } = options;
  checkConfig(config);
  const directory = storage.currentDirectory;
  const loaded = await loadSegments({
    directory,
    config,
    snapshotIndex,
    fs,
    logger,
    nowText: String(Math.floor(runtime.clock.wallTimeMs())),
  });
  const { list } = loaded;
  const files = new SegmentWriter(fs, directory, config);
  if (list.open !== undefined) await files.resume(list.open);
  const data = new DataSync(dataStore, config, runtime, logger);
  const flushIndex = Math.max(list.lastIndex, snapshotIndex);
  const log = new SegmentedRaftLog({
    list,
    cache: new SegmentCache(config.segmentCacheNumMax, config.segmentCacheSizeMaxBytes),
    writer: new LogWriter({
      files,
      config,
      data,
      listener: options.listener,
      runtime,
      logger,
      flushIndex,
    }),
    reader: new EntryReader(fs, directory),
    data,
    dataStore,
    config,
    snapshotIndex,
  });
  return {
    log,
    termRuns: list.termRuns(),
    configurations: loaded.configurations,
    lastMetadataCommitIndex: loaded.lastMetadataCommitIndex,
  };
}
