import { createHash, type Hash } from 'node:crypto';
import type { Logger } from '../common/logger.js';
import type { FileChunk } from '../protocol/server-messages.js';
import type { VirtualFile, VirtualFileSystem } from '../runtime/vfs/types.js';
import { replaceFile } from './atomic-file.js';
import { SnapshotTransferError } from './errors.js';
import { joinPath } from './paths.js';

const PREFIX = 'sm/';
const DIGEST_BYTES = 16;

interface OpenFile {
  readonly name: string;
  readonly file: VirtualFile;
  readonly hash: Hash;
  sizeBytes: number;
}

export interface IncomingOptions {
  /** Where the files go; removed when the transfer starts over. */
  readonly directory: string;
  readonly fs: VirtualFileSystem;
  readonly logger: Logger;
  wallTimeMs(): number;
}

/**
 * The files of a snapshot as they arrive, piece by piece and one file after the other (spec:
 * storage 11). Every method rejects with SnapshotTransferError when the sender breaks a rule, or
 * with the file system's error; the transfer is lost then.
 */
export class IncomingSnapshot {
  readonly directory: string;
  readonly #options: IncomingOptions;
  #open: OpenFile | undefined;
  /** Directories that got files, to be made durable. */
  readonly #directories = new Set<string>();

  private constructor(options: IncomingOptions) {
    this.#options = options;
    this.directory = options.directory;
  }

  /** Starts with an empty directory. */
  static async create(options: IncomingOptions): Promise<IncomingSnapshot> {
    const { fs, directory } = options;
    await fs.removeTree(directory);
    await fs.mkdir(directory, { recursive: true });
    const incoming = new IncomingSnapshot(options);
    incoming.#directories.add(directory);
    return incoming;
  }

  async write(chunk: FileChunk): Promise<void> {
    const parts = partsOf(chunk.filename);
    const open = await this.#fileFor(chunk, parts);
    if (chunk.data.length > 0) {
      await open.file.writev([chunk.data], open.sizeBytes);
      open.hash.update(chunk.data);
      open.sizeBytes += chunk.data.length;
    }
    if (chunk.done) await this.#finishFile(open, chunk.fileDigest);
  }

  /** All files are there and durable. */
  async complete(): Promise<void> {
    if (this.#open !== undefined) {
      throw new SnapshotTransferError(`${this.#open.name} is not complete`);
    }
    for (const directory of this.#directories) await this.#options.fs.syncDirectory(directory);
  }

  /** Gives the transfer up and removes its files, but not those that proved to be corrupt. */
  async abandon(): Promise<void> {
    const open = this.#open;
    this.#open = undefined;
    await open?.file.close();
    await this.#options.fs.removeTree(this.directory);
  }

  async #fileFor(chunk: FileChunk, parts: readonly string[]): Promise<OpenFile> {
    const { fs } = this.#options;
    const open = this.#open;
    if (chunk.offsetBytes > 0) {
      if (open?.name === chunk.filename && open.sizeBytes === chunk.offsetBytes) return open;
      const where = open === undefined ? 'no open file' : `${open.name} at ${open.sizeBytes}`;
      const text = `a piece of ${chunk.filename} at ${chunk.offsetBytes} follows ${where}`;
      throw new SnapshotTransferError(text);
    }
    if (open !== undefined) {
      if (open.name !== chunk.filename) {
        throw new SnapshotTransferError(`${open.name} is followed by ${chunk.filename} too early`);
      }
      await open.file.close();
    }
    this.#open = undefined;
    let directory = this.directory;
    for (const part of parts.slice(0, -1)) {
      directory = joinPath(directory, part);
      this.#directories.add(directory);
    }
    await fs.mkdir(directory, { recursive: true });
    const file = await fs.open(joinPath(this.directory, ...parts), 'w');
    this.#open = { name: chunk.filename, file, hash: createHash('md5'), sizeBytes: 0 };
    return this.#open;
  }

  async #finishFile(open: OpenFile, expected: Uint8Array): Promise<void> {
    const { fs, logger } = this.#options;
    const actual = new Uint8Array(open.hash.digest());
    await open.file.sync();
    await open.file.close();
    this.#open = undefined;
    const parts = partsOf(open.name);
    const path = joinPath(this.directory, ...parts);
    if (expected.length !== DIGEST_BYTES || Buffer.compare(expected, actual) !== 0) {
      const corrupt = `${this.directory}.corrupt${timeText(this.#options.wallTimeMs())}`;
      await this.#removeOldCorrupt();
      await fs.rename(path, corrupt);
      logger.log('error', `${open.name} arrived damaged, it is kept as ${corrupt}`);
      throw new SnapshotTransferError(`the MD5 of ${open.name} does not fit`);
    }
    const name = parts.at(-1) ?? '';
    const line = `${Buffer.from(actual).toString('hex')} *${name}\n`;
    const directory = joinPath(path, '..');
    await replaceFile(fs, directory, `${name}.md5`, new TextEncoder().encode(line), logger);
  }

  /** One damaged file is enough to look at; more could fill the disk. */
  async #removeOldCorrupt(): Promise<void> {
    const { fs } = this.#options;
    const parent = joinPath(this.directory, '..');
    for (const { name } of await fs.list(parent)) {
      if (/^snapshot-.*\.corrupt/.test(name)) await fs.unlink(joinPath(parent, name));
    }
  }
}

/** Parts of a name below `sm/`; whatever could lead out of it is refused (spec: storage 11). */
function partsOf(filename: string): string[] {
  const parts = filename.slice(PREFIX.length).split('/');
  const isBad = (part: string) =>
    part === '' || part === '.' || part === '..' || /[\\\0]/.test(part);
  if (!filename.startsWith(PREFIX) || parts.some(isBad)) {
    throw new SnapshotTransferError(`${JSON.stringify(filename)} is no name below ${PREFIX}`);
  }
  return parts;
}

/** `yyyyMMdd-HHmmss_SSS`. */
function timeText(wallTimeMs: number): string {
  const iso = new Date(wallTimeMs).toISOString();
  return iso.replace(/[-:]/g, '').replace('T', '-').replace('.', '_').replace('Z', '');
}
