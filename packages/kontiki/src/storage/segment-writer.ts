import type { VirtualFile, VirtualFileSystem } from '../runtime/vfs/types.js';
import { joinPath } from './paths.js';
import type { Segment } from './segment.js';
import { closedName, HEADER_BYTES, openName, SEGMENT_HEADER } from './segment-format.js';
import type { TruncationPlan } from './segment-list.js';
import type { RaftLogConfig } from './types.js';

/**
 * A segment is preallocated once it saw this many writes: an idle group must not hold megabytes of
 * zeros (design: section 3).
 */
const SUSTAINED_WRITES = 8;
const PREALLOCATION_STEP_MIN_BYTES = 64 << 10;

/** The files of one log, as the log's writer changes them. One operation at a time. */
export class SegmentWriter {
  readonly #fs: VirtualFileSystem;
  readonly #directory: string;
  readonly #segmentSizeMaxBytes: number;
  readonly #preallocatedSizeBytes: number;
  #file: VirtualFile | undefined;
  #position = 0;
  #fileBytes = 0;
  #writes = 0;

  constructor(fs: VirtualFileSystem, directory: string, config: RaftLogConfig) {
    this.#fs = fs;
    this.#directory = directory;
    this.#segmentSizeMaxBytes = config.segmentSizeMaxBytes;
    this.#preallocatedSizeBytes = config.preallocatedSizeBytes;
  }

  /**
   * Creates the file of a new segment: durable, name included, when this resolves (spec: storage
   * 6.2).
   */
  async create(startIndex: number): Promise<void> {
    const file = await this.#fs.open(this.#path(openName(startIndex)), 'wx+');
    this.#file = file;
    this.#position = HEADER_BYTES;
    this.#fileBytes = HEADER_BYTES;
    this.#writes = 0;
    await file.writev([SEGMENT_HEADER], 0);
    await file.datasync();
    await this.#fs.syncDirectory(this.#directory);
  }

  /**
   * Continues the open segment that was found at start. A process that was killed between a write
   * and its sync leaves entries that can be read, but would not outlive a loss of power: they are
   * made durable here, before anybody counts on them.
   */
  async resume(segment: Segment): Promise<void> {
    this.#file = await this.#fs.open(this.#path(segment.diskName), 'r+');
    await this.#file.datasync();
    this.#position = segment.sizeBytes;
    this.#fileBytes = segment.sizeBytes;
    this.#writes = 0;
  }

  /** Writes at the end, without a sync. */
  async write(buffers: readonly Uint8Array[], sizeBytes: number): Promise<void> {
    const file = this.#openFile();
    await this.#preallocate(file, sizeBytes);
    await file.writev(buffers, this.#position);
    this.#position += sizeBytes;
    this.#fileBytes = Math.max(this.#fileBytes, this.#position);
    this.#writes++;
  }

  async datasync(): Promise<void> {
    await this.#openFile().datasync();
  }

  /**
   * Cuts the padding, closes, and gives the segment its final name (spec: storage 6.2). Everything
   * written is synced before.
   */
  async finalize(segment: Segment, endIndex: number): Promise<void> {
    await this.closeFile();
    const name = closedName(segment.startIndex, endIndex);
    await this.#fs.rename(this.#path(segment.diskName), this.#path(name));
    segment.diskName = name;
    await this.#fs.syncDirectory(this.#directory);
  }

  /**
   * Removes and cuts files, highest start first (spec: storage 7.1). Durable when this resolves.
   */
  async truncate(plan: TruncationPlan, cutName: string): Promise<void> {
    await this.closeFile();
    await this.#remove(plan.deleted);
    if (plan.cut !== undefined) {
      const { segment, sizeBytes } = plan.cut;
      const file = await this.#fs.open(this.#path(segment.diskName), 'r+');
      try {
        await file.truncate(sizeBytes);
        await file.sync();
      } finally {
        await file.close();
      }
      if (segment.diskName !== cutName) {
        await this.#fs.rename(this.#path(segment.diskName), this.#path(cutName));
        segment.diskName = cutName;
      }
    }
    await this.#fs.syncDirectory(this.#directory);
  }

  /** Removes closed segments, lowest start first. */
  async purge(segments: readonly Segment[]): Promise<void> {
    await this.#remove(segments);
  }

  /** Cuts the padding of the open file and closes it; its name stays. */
  async closeFile(): Promise<void> {
    const file = this.#file;
    if (file === undefined) return;
    this.#file = undefined;
    try {
      if (this.#fileBytes > this.#position) {
        await file.truncate(this.#position);
        await file.sync();
      }
    } finally {
      await file.close();
    }
  }

  /** Closes the open file as it is, after a failure. */
  async abandon(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  /** Each removal is durable before the next: a crash must leave no gap. */
  async #remove(segments: readonly Segment[]): Promise<void> {
    for (const segment of segments) {
      await this.#fs.unlink(this.#path(segment.diskName));
      await this.#fs.syncDirectory(this.#directory);
    }
  }

  #openFile(): VirtualFile {
    if (this.#file === undefined) throw new Error('no segment file is open');
    return this.#file;
  }

  #path(name: string): string {
    return joinPath(this.#directory, name);
  }

  /** Extends the file with zeros, in steps that grow with the segment up to the configured size. */
  async #preallocate(file: VirtualFile, sizeBytes: number): Promise<void> {
    const end = this.#position + sizeBytes;
    if (end <= this.#fileBytes || this.#writes < SUSTAINED_WRITES) return;
    const step = Math.min(
      this.#preallocatedSizeBytes,
      Math.max(PREALLOCATION_STEP_MIN_BYTES, this.#position),
    );
    const target = Math.min(this.#fileBytes + step, this.#segmentSizeMaxBytes);
    // A write as large as the step gains nothing from zeros that it overwrites at once.
    if (end >= target) return;
    await file.allocate(target);
    this.#fileBytes = target;
  }
}
