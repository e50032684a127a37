import { createHash } from 'node:crypto';
import { type Logger, NULL_LOGGER } from '../common/logger.js';
import type { TermIndex } from '../protocol/term-index.js';
import { systemCodeOf } from '../runtime/vfs/errors.js';
import { nodeFileSystem } from '../runtime/vfs/node-file-system.js';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';
import { StorageCorruptedError } from '../storage/errors.js';
import { joinPath } from '../storage/paths.js';
import { digestFile, formatMd5Line, MD5_SUFFIX, parseMd5Line } from './md5.js';
import type { SnapshotFile, SnapshotInfo } from './types.js';

const SNAPSHOT_NAME = /^snapshot\.(\d+)_(\d+)$/;
const SIDECAR_NAME = /^(snapshot\.\d+_\d+)\.md5$/;

/** Content of a snapshot file, in pieces. */
export type SnapshotContent = Iterable<Uint8Array> | AsyncIterable<Uint8Array>;

interface FoundSnapshot {
  readonly name: string;
  readonly termIndex: TermIndex;
  readonly digest: Uint8Array | undefined;
}

/** Name of the file that holds the state after `termIndex` (spec: storage 10.1). */
export function snapshotFileName(termIndex: TermIndex): string {
  return `snapshot.${termIndex.term}_${termIndex.index}`;
}

/**
 * The position in a snapshot's file name; undefined when it is not such a name (spec: storage
 * 10.1).
 */
export function parseSnapshotFileName(name: string): TermIndex | undefined {
  const match = SNAPSHOT_NAME.exec(name);
  if (match === null) return undefined;
  const term = Number(match[1]);
  const index = Number(match[2]);
  return Number.isSafeInteger(term) && Number.isSafeInteger(index) ? { term, index } : undefined;
}

/**
 * Snapshots of one file each, with an MD5 file beside it: `snapshot.<term>_<index>` and
 * `snapshot.<term>_<index>.md5` (spec: storage 10.1 to 10.3).
 */
export class SimpleSnapshotStorage {
  readonly #directory: string;
  readonly #fs: VirtualFileSystem;
  readonly #logger: Logger;
  #latest: SnapshotInfo | undefined;

  constructor(
    directory: string,
    options: { readonly fs?: VirtualFileSystem; readonly logger?: Logger } = {},
  ) {
    this.#directory = directory;
    this.#fs = options.fs ?? nodeFileSystem();
    this.#logger = options.logger ?? NULL_LOGGER;
  }

  /** The newest snapshot that `loadLatest` or `save` saw. */
  get latest(): SnapshotInfo | undefined {
    return this.#latest;
  }

  /** Where the snapshot of a position is or will be. */
  pathOf(termIndex: TermIndex): string {
    return joinPath(this.#directory, snapshotFileName(termIndex));
  }

  /**
   * Looks on the disk for the newest snapshot: the highest index that has an MD5 file, else the
   * highest index. A snapshot whose MD5 file cannot be read is skipped with a warning (spec:
   * storage 10.2, quirk 12).
   */
  async loadLatest(): Promise<SnapshotInfo | undefined> {
    const found = await this.#scan();
    const best = found.find((snapshot) => snapshot.digest !== undefined) ?? found[0];
    this.#latest = best === undefined ? undefined : await this.#describe(best);
    return this.#latest;
  }

  /**
   * Writes a snapshot durably: first the file, then its MD5 file, each under a temporary name
   * first. Rejects with the error of the file system.
   */
  async save(termIndex: TermIndex, content: SnapshotContent): Promise<SnapshotInfo> {
    const path = this.pathOf(termIndex);
    const hash = createHash('md5');
    let sizeBytes = 0;
    await this.#replace(path, async (write) => {
      for await (const piece of content) {
        hash.update(piece);
        sizeBytes += piece.length;
        await write(piece);
      }
    });
    const digest = new Uint8Array(hash.digest());
    const line = new TextEncoder().encode(formatMd5Line(digest, snapshotFileName(termIndex)));
    await this.#replace(path + MD5_SUFFIX, (write) => write(line));
    const saved = { termIndex, files: [{ path, sizeBytes, digest }] };
    if (this.#latest === undefined || this.#latest.termIndex.index < termIndex.index) {
      this.#latest = saved;
    }
    return saved;
  }

  /**
   * The bytes of a snapshot's file. Rejects with StorageCorruptedError when its MD5 is known and
   * differs.
   */
  async read(file: SnapshotFile): Promise<Uint8Array> {
    const bytes = await this.#fs.readFile(file.path);
    if (file.digest !== undefined) {
      requireDigest(file, createHash('md5').update(bytes).digest());
    }
    return bytes;
  }

  /**
   * Compares the MD5 of a file with the known one, without loading the file at once. Rejects like
   * `read`.
   */
  async verify(file: SnapshotFile): Promise<void> {
    if (file.digest !== undefined) requireDigest(file, await digestFile(this.#fs, file.path));
  }

  /**
   * Deletes every snapshot behind the `retentionCount`-th newest one that has an MD5 file, and MD5
   * files without a snapshot. 0 and less keep all; errors are logged (spec: storage 10.3).
   */
  async cleanup(retentionCount: number): Promise<void> {
    if (retentionCount <= 0) return;
    const found = await this.#scan();
    const kept = new Set(found.map((snapshot) => snapshot.name));
    let withDigest = 0;
    for (const snapshot of found) {
      if (withDigest < retentionCount) {
        if (snapshot.digest !== undefined) withDigest++;
      } else {
        await this.#delete(snapshot.name);
        kept.delete(snapshot.name);
      }
    }
    for (const name of await this.#names()) {
      const match = SIDECAR_NAME.exec(name);
      if (match?.[1] !== undefined && !kept.has(match[1])) await this.#delete(name);
    }
  }

  /** All snapshots, newest first. */
  async #scan(): Promise<FoundSnapshot[]> {
    const found: FoundSnapshot[] = [];
    for (const name of await this.#names()) {
      const termIndex = parseSnapshotFileName(name);
      if (termIndex === undefined) continue;
      try {
        found.push({ name, termIndex, digest: await this.#readDigest(name) });
      } catch (error) {
        this.#logger.log('warn', `skipping snapshot ${name}: its MD5 file is bad`, { error });
      }
    }
    return found.sort((a, b) => b.termIndex.index - a.termIndex.index);
  }

  async #names(): Promise<string[]> {
    try {
      const entries = await this.#fs.list(this.#directory);
      return entries.filter((entry) => !entry.isDirectory).map((entry) => entry.name);
    } catch (error) {
      if (systemCodeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  async #readDigest(name: string): Promise<Uint8Array | undefined> {
    const path = joinPath(this.#directory, name + MD5_SUFFIX);
    if (!(await this.#fs.exists(path))) return undefined;
    const text = new TextDecoder().decode(await this.#fs.readFile(path));
    const digest = parseMd5Line(text, name);
    if (digest === undefined) throw new StorageCorruptedError(path, undefined, 'no MD5 line');
    return digest;
  }

  async #describe(found: FoundSnapshot): Promise<SnapshotInfo> {
    const path = joinPath(this.#directory, found.name);
    const { sizeBytes } = await this.#fs.stat(path);
    return { termIndex: found.termIndex, files: [{ path, sizeBytes, digest: found.digest }] };
  }

  /** Replaces a file: the new content is durable before it gets the name. */
  async #replace(
    path: string,
    fill: (write: (piece: Uint8Array) => Promise<void>) => Promise<void>,
  ): Promise<void> {
    const temporary = `${path}.tmp`;
    const file = await this.#fs.open(temporary, 'w');
    try {
      let position = 0;
      await fill(async (piece) => {
        await file.writev([piece], position);
        position += piece.length;
      });
      await file.sync();
    } finally {
      await file.close();
    }
    await this.#fs.rename(temporary, path);
    await this.#fs.syncDirectory(this.#directory);
  }

  async #delete(name: string): Promise<void> {
    try {
      await this.#fs.unlink(joinPath(this.#directory, name));
    } catch (error) {
      this.#logger.log('warn', `cannot delete ${name}`, { error });
    }
  }
}

function requireDigest(file: SnapshotFile, actual: Uint8Array): void {
  if (Buffer.compare(actual, file.digest ?? actual) !== 0) {
    throw new StorageCorruptedError(file.path, undefined, 'its MD5 is not that of its MD5 file');
  }
}
