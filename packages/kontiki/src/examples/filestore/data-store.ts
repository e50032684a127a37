import { resolve } from 'node:path';
import { stateMachineBodyOf } from '../../proto/wire/index.js';
import type { LogEntry } from '../../proto/wire/types.js';
import type { VirtualFileSystem } from '../../runtime/vfs/types.js';
import type { StateMachineDataApi, TransactionContext } from '../../statemachine/types.js';
import { crc32c } from '../../storage/crc32c.js';
import { RaftLogIOException, StorageCorruptedError } from '../../storage/errors.js';
import { joinPath } from '../../storage/paths.js';
import { DataFile, OpenFiles } from './data-file.js';
import { FileTable } from './file-table.js';
import { FileVersion } from './file-version.js';
import { decodeRequest, type WriteHeader, withChecksum } from './messages.js';
import { dataFilePath, normalizePath, parseDataFileName } from './paths.js';

const OPEN_FILES_MAX = 128;
/** Refused writes that are remembered, so that followers which still lack them can be served. */
const REFUSED_MAX = 65_536;

/**
 * The header of a write in the log; undefined for other entries and for paths that are not
 * acceptable.
 */
export function headerOf(logData: Uint8Array, root: string): WriteHeader | undefined {
  const request = decodeRequest(logData);
  if (request.kind !== 'writeHeader') return undefined;
  return { ...request.header, path: normalizePath(request.header.path, root) };
}

/**
 * The data of the file store, in files beside the log. Data is written as its entry is appended,
 * into the version of the file that the entry belongs to; it is durable once `flush` has resolved,
 * which syncs every file that was written once. Data that does not fit what the log has before it
 * is not stored: its entry will be refused when it is applied.
 */
export class FileDataStore implements StateMachineDataApi {
  #root = '';
  readonly table = new FileTable();
  readonly #fs: VirtualFileSystem;
  readonly #open = new OpenFiles(OPEN_FILES_MAX);
  readonly #dirty = new Set<DataFile>();
  readonly #refused = new Set<number>();
  /** Deletions under way: a new file of the same name has to wait. */
  readonly #removals = new Map<string, Promise<void>>();
  #hasNewFiles = false;

  constructor(fs: VirtualFileSystem) {
    this.#fs = fs;
  }

  /** Folder of the data files. */
  get root(): string {
    return this.#root;
  }

  /** Says where the data files are, and makes the folder. */
  async prepare(root: string): Promise<void> {
    this.#root = resolve(root);
    await this.#fs.mkdir(this.#root, { recursive: true });
  }

  /** A version whose file is on disk already, or is missing. */
  existing(path: string, id: number, isCertain = true): FileVersion {
    const file = new DataFile(this.#fs, this.#open, dataFilePath(this.root, path, id), false);
    return new FileVersion(path, id, file, isCertain);
  }

  /** A version that starts with an empty file. */
  create(path: string, id: number): FileVersion {
    const diskPath = dataFilePath(this.root, path, id);
    const file = new DataFile(this.#fs, this.#open, diskPath, true, this.#removals.get(diskPath));
    this.#dirty.add(file);
    this.#hasNewFiles = true;
    return new FileVersion(path, id, file, true);
  }

  /**
   * Takes note of the files on disk that the table does not know; those up to `appliedIndex` are
   * left over and deleted.
   */
  async scan(appliedIndex: number): Promise<void> {
    for (const { name, isDirectory } of await this.#fs.list(this.root)) {
      const parsed = isDirectory ? undefined : parseDataFileName(name);
      if (parsed === undefined) continue;
      const { path, versionId } = parsed;
      if (this.table.find(path, versionId) !== undefined) continue;
      if (versionId <= appliedIndex) await this.#fs.unlink(joinPath(this.root, name));
      else this.table.add(this.existing(path, versionId, false));
    }
  }

  write(entry: LogEntry, context: TransactionContext): Promise<void> {
    const data = entry.data ?? context.stateMachineData;
    if (data === undefined) {
      return Promise.reject(new RaftLogIOException(`entry ${entry.index} lacks its data`));
    }
    const header = this.#headerOf(context.logData);
    if (header === undefined || header.length !== data.length) {
      this.refused(entry.index);
      return Promise.resolve();
    }
    const stamped = header.checksum === undefined ? withChecksum(header, data) : header;
    const written: Promise<void>[] = [];
    for (const version of this.#targets(header, entry.index)) {
      version.opened(entry.index, stamped);
      this.#dirty.add(version.file);
      written.push(version.file.write(header.offset, data));
    }
    if (written.length === 0) this.refused(entry.index);
    if (written.length === 1 && written[0] !== undefined) return written[0];
    return Promise.all(written).then(() => undefined);
  }

  /**
   * The data of an entry. What was replaced, deleted or refused since is gone; zeros stand for it,
   * because no reader will ever see them. Rejects with StorageCorruptedError when data is damaged.
   */
  async read(entry: LogEntry, context: TransactionContext | undefined): Promise<Uint8Array> {
    const logData = context?.logData ?? stateMachineBodyOf(entry)?.logData;
    const header = logData === undefined ? undefined : this.#headerOf(logData);
    if (header === undefined) {
      throw new RaftLogIOException(`entry ${entry.index} is no write of a file`);
    }
    let damage: StorageCorruptedError | undefined;
    for (const version of this.#holders(header, entry.index)) {
      try {
        return await readEntry(version, header);
      } catch (error) {
        if (!(error instanceof StorageCorruptedError)) throw error;
        damage = error;
      }
    }
    if (damage !== undefined && !this.#refused.has(entry.index)) throw damage;
    return new Uint8Array(header.length);
  }

  async flush(_index: number): Promise<void> {
    const files = [...this.#dirty];
    this.#dirty.clear();
    await Promise.all(files.map((file) => file.sync()));
    if (!this.#hasNewFiles) return;
    this.#hasNewFiles = false;
    await this.#fs.syncDirectory(this.root);
  }

  async truncate(index: number): Promise<void> {
    const work: Promise<void>[] = [];
    for (const version of [...this.table.all()]) {
      if (version.id >= index) {
        work.push(this.drop(version));
        continue;
      }
      const sizeBytes = version.truncate(index);
      if (sizeBytes === undefined) continue;
      this.#dirty.add(version.file);
      work.push(version.file.cut(sizeBytes));
    }
    await Promise.all(work);
  }

  /** Removes a version and deletes its file. */
  drop(version: FileVersion): Promise<void> {
    const { file } = version;
    this.table.remove(version);
    this.#dirty.delete(file);
    const removal = file.remove().finally(() => {
      if (this.#removals.get(file.path) === removal) this.#removals.delete(file.path);
    });
    this.#removals.set(file.path, removal);
    return removal;
  }

  /** The entry at `index` has no effect. */
  refused(index: number): void {
    this.#refused.add(index);
    if (this.#refused.size <= REFUSED_MAX) return;
    for (const oldest of this.#refused) {
      this.#refused.delete(oldest);
      return;
    }
  }

  async release(): Promise<void> {
    await Promise.all([...this.table.all()].map((version) => version.file.release()));
  }

  #headerOf(logData: Uint8Array): WriteHeader | undefined {
    try {
      return headerOf(logData, this.root);
    } catch {
      // Not acceptable: applying the entry says so to the client.
      return undefined;
    }
  }

  /**
   * Where the data of a write goes. After a start it can be unknown whether the log has the write
   * that made a version that was found; then the data goes there and to the version before as well,
   * which does no harm: bytes that are not applied show nowhere.
   */
  #targets(header: WriteHeader, index: number): FileVersion[] {
    const { path, offset } = header;
    const versions = this.table.versionsOf(path).filter((version) => version.id < index);
    if (offset === 0) {
      for (const stale of this.table.versionsOf(path)) {
        // The log was cut below it, or never had the write that made it.
        if (stale.id >= index) this.drop(stale).catch(() => undefined);
      }
      const version = this.create(path, index);
      this.table.add(version);
      return [version];
    }
    const newestCertain = versions.findLastIndex((version) => version.isCertain);
    return versions.slice(Math.max(0, newestCertain)).filter((version) => version.accepts(offset));
  }

  /** Versions that can hold the data of an entry, the likeliest first. */
  #holders(header: WriteHeader, index: number): FileVersion[] {
    const versions = this.table.versionsOf(header.path).filter((version) => version.id <= index);
    const own = versions.filter((version) => version.hasOpenWrite(index));
    return own.length > 0 ? own : versions.reverse();
  }
}

async function readEntry(version: FileVersion, header: WriteHeader): Promise<Uint8Array> {
  const bytes = await version.file.read(header.offset, header.length);
  if (header.checksum !== undefined && crc32c(bytes) !== header.checksum) {
    const { path } = version.file;
    throw new StorageCorruptedError(path, header.offset, 'its checksum differs');
  }
  return bytes;
}
