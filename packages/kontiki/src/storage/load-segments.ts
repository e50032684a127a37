import type { Logger } from '../common/logger.js';
import { commitIndexOf, configurationOf } from '../proto/wire/index.js';
import { EntryKind, type LogEntry } from '../proto/wire/types.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';
import { StorageCorruptedError } from './errors.js';
import { FileWindow } from './file-window.js';
import { joinPath } from './paths.js';
import { Segment } from './segment.js';
import { openName, parseSegmentName, type SegmentName } from './segment-format.js';
import { SegmentList } from './segment-list.js';
import { type ScanEnd, SegmentScanner } from './segment-scan.js';
import type { RaftLogConfig } from './types.js';

export interface LoadOptions {
  readonly directory: string;
  readonly config: Pick<RaftLogConfig, 'entrySizeMaxBytes' | 'corruptionPolicy'>;
  readonly snapshotIndex: number;
  readonly fs: VirtualFileSystem;
  readonly logger: Logger;
  /** Names a file that is set aside; the same for all of one start. */
  readonly nowText: string;
}

export interface LoadedSegments {
  readonly list: SegmentList;
  readonly configurations: readonly RaftConfiguration[];
  readonly lastMetadataCommitIndex: number;
}

/** By start; an open segment before closed ones; then by end (spec: storage 5.4). */
function compareNames(a: SegmentName, b: SegmentName): number {
  return a.startIndex - b.startIndex || (a.endIndex ?? -1) - (b.endIndex ?? -1);
}

/**
 * Loads all segments of a directory, and repairs what a crash may leave (spec: storage 5.4, 5.5).
 */
class SegmentLoader {
  readonly #options: LoadOptions;
  readonly #configurations: RaftConfiguration[] = [];
  #lastMetadataCommitIndex = -1;
  #directoryChanged = false;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  async load(): Promise<LoadedSegments> {
    const { fs, directory, snapshotIndex } = this.#options;
    const list = new SegmentList(snapshotIndex + 1);
    for (const name of await this.#listNames()) {
      const segment = await this.#loadFile(name);
      if (segment !== undefined) this.#addTo(list, segment);
    }
    await this.#renameShortLast(list);
    // The state machine is ahead of the log: nothing here is needed (spec: storage 5.4 step 4,
    // 14.6).
    if (list.last !== undefined && list.lastIndex < snapshotIndex) {
      for (const segment of list.clear(snapshotIndex + 1)) await this.#delete(segment.diskName);
    }
    this.#checkStart(list);
    if (this.#directoryChanged) await fs.syncDirectory(directory);
    return {
      list,
      configurations: this.#configurations,
      lastMetadataCommitIndex: this.#lastMetadataCommitIndex,
    };
  }

  async #listNames(): Promise<SegmentName[]> {
    const { fs, directory, logger } = this.#options;
    const names: SegmentName[] = [];
    for (const { name, isDirectory } of await fs.list(directory)) {
      const parsed = isDirectory ? undefined : parseSegmentName(name);
      if (parsed === undefined) continue;
      const path = joinPath(directory, name);
      const isEmpty = (await fs.stat(path)).sizeBytes === 0;
      if (parsed.endIndex === undefined && isEmpty) {
        logger.log('warn', `deleting the empty segment file ${path}`);
        await this.#delete(name);
      } else if (parsed.endIndex === undefined && name !== openName(parsed.startIndex)) {
        throw new StorageCorruptedError(path, undefined, 'not a name that a log writer gives');
      } else names.push(parsed);
    }
    return names.sort(compareNames);
  }

  async #loadFile(name: SegmentName): Promise<Segment | undefined> {
    const path = joinPath(this.#options.directory, name.name);
    const segment = new Segment(name.startIndex);
    segment.diskName = name.name;
    const file = await this.#options.fs.open(path, 'r+');
    try {
      const sizeBytes = await file.size();
      const end = await this.#scan(new FileWindow(file, sizeBytes), path, name, segment);
      this.#judge(path, name, segment, end, sizeBytes);
      if (segment.count > 0 && sizeBytes > end.totalBytes) {
        await file.truncate(end.totalBytes);
        await file.sync();
      }
      if (segment.count === 0) await this.#removeEmpty(name.name, end);
    } finally {
      await file.close();
    }
    if (segment.count === 0) return undefined;
    if (name.endIndex !== undefined) segment.close();
    return segment;
  }

  #scan(window: FileWindow, path: string, name: SegmentName, segment: Segment): Promise<ScanEnd> {
    return new SegmentScanner(window, {
      path,
      name,
      entrySizeMaxBytes: this.#options.config.entrySizeMaxBytes,
      onEntry: (entry, recordBytes) => {
        segment.add(entry.term, entry.kind, entry.hasData, recordBytes, entry.fullSizeBytes);
        this.#consume(entry);
      },
      knownCommitIndex: () => this.#lastMetadataCommitIndex,
    }).scan();
  }

  #consume(entry: LogEntry): void {
    if (entry.kind === EntryKind.METADATA) this.#lastMetadataCommitIndex = commitIndexOf(entry);
    else if (entry.kind === EntryKind.CONFIGURATION) {
      this.#configurations.push(configurationOf(entry));
    }
  }

  /** Applies the corruption policy; says what is cut. */
  #judge(path: string, name: SegmentName, segment: Segment, end: ScanEnd, sizeBytes: number): void {
    const { logger, config } = this.#options;
    const isLost = name.endIndex !== undefined && segment.count === 0;
    const damage =
      end.damage ?? (isLost ? new StorageCorruptedError(path, 0, 'it has no entries') : undefined);
    if (damage !== undefined) {
      if (config.corruptionPolicy === 'EXCEPTION') throw damage;
      logger.log('warn', `${damage.message}: going on with ${segment.count} entries before it`);
    } else if (end.isTorn) {
      const cut = sizeBytes - end.totalBytes;
      logger.log('warn', `${path}: the last record was not written completely, cut ${cut} bytes`);
    } else if (name.endIndex !== undefined && segment.endIndex < name.endIndex) {
      logger.log('warn', `${path} ends at entry ${segment.endIndex} already`);
    }
  }

  /**
   * A file without entries is deleted, but kept under another name when it may hold some that
   * cannot be read (spec: storage 14.5).
   */
  async #removeEmpty(name: string, end: ScanEnd): Promise<void> {
    const { fs, directory, nowText, logger } = this.#options;
    if (end.damage === undefined && !end.isTorn) return this.#delete(name);
    const aside = `damaged-${nowText}-${name}`;
    logger.log('warn', `${joinPath(directory, name)} is set aside as ${aside}`);
    await fs.rename(joinPath(directory, name), joinPath(directory, aside));
    this.#directoryChanged = true;
  }

  #addTo(list: SegmentList, segment: Segment): void {
    const { directory } = this.#options;
    const path = joinPath(directory, segment.diskName);
    if (list.open !== undefined) {
      throw new StorageCorruptedError(path, undefined, 'it follows an open segment');
    }
    if (list.last !== undefined && segment.startIndex !== list.lastIndex + 1) {
      const what = `it starts at ${segment.startIndex}, the one before ends at ${list.lastIndex}`;
      throw new StorageCorruptedError(path, undefined, what);
    }
    list.add(segment);
  }

  /** Entries that neither log nor snapshot holds can't be applied: better told now than later. */
  #checkStart(list: SegmentList): void {
    const { directory, snapshotIndex } = this.#options;
    const first = list.segments[0];
    if (first === undefined || first.startIndex <= snapshotIndex + 1) return;
    const covered = snapshotIndex < 0 ? 'there is no snapshot' : `the snapshot is ${snapshotIndex}`;
    const what = `the log begins with it, and ${covered}`;
    throw new StorageCorruptedError(joinPath(directory, first.diskName), undefined, what);
  }

  /** The last closed segment gets the name of what it holds (spec: storage 14.3). */
  async #renameShortLast(list: SegmentList): Promise<void> {
    const { fs, directory } = this.#options;
    const last = list.last;
    if (last === undefined || last.diskName === last.name) return;
    await fs.rename(joinPath(directory, last.diskName), joinPath(directory, last.name));
    last.diskName = last.name;
    this.#directoryChanged = true;
  }

  async #delete(name: string): Promise<void> {
    await this.#options.fs.unlink(joinPath(this.#options.directory, name));
    this.#directoryChanged = true;
  }
}

export function loadSegments(options: LoadOptions): Promise<LoadedSegments> {
  return new SegmentLoader(options).load();
}
