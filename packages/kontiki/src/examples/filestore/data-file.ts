import { toError } from '../../common/errors.js';
import { systemCodeOf } from '../../runtime/vfs/errors.js';
import type { VirtualFile, VirtualFileSystem } from '../../runtime/vfs/types.js';
import { StorageCorruptedError } from '../../storage/errors.js';

interface QueuedWrite {
  readonly position: number;
  readonly data: Uint8Array;
}

/** Closes the files that were not used for the longest time, so that only `limit` are open. */
export class OpenFiles {
  readonly #limit: number;
  readonly #files = new Set<DataFile>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  used(file: DataFile): void {
    this.#files.delete(file);
    this.#files.add(file);
    if (this.#files.size <= this.#limit) return;
    for (const oldest of this.#files) {
      this.#files.delete(oldest);
      oldest.release().catch(() => undefined);
      return;
    }
  }

  closed(file: DataFile): void {
    this.#files.delete(file);
  }
}

/**
 * The data of one version of a file, on disk. Operations are carried out one after another; writes
 * that are queued together and touch are one system call. A failed write makes every later `sync`
 * fail.
 */
export class DataFile {
  readonly path: string;
  readonly #fs: VirtualFileSystem;
  readonly #open: OpenFiles;
  #handle: VirtualFile | undefined;
  /** The next opening makes the file anew. */
  #fresh: boolean;
  #tail: Promise<void>;
  #queued: QueuedWrite[] = [];
  #batch: Promise<void> | undefined;
  #dirty = false;
  #failure: Error | undefined;

  /** `fresh`: the first use makes the file anew; not before `after` has settled. */
  constructor(
    fs: VirtualFileSystem,
    open: OpenFiles,
    path: string,
    fresh: boolean,
    after: Promise<void> = Promise.resolve(),
  ) {
    this.#fs = fs;
    this.#open = open;
    this.path = path;
    this.#fresh = fresh;
    this.#tail = after.catch(() => undefined);
  }

  /**
   * Writes `data`, which must not change until this resolves. Not durable before the next `sync`.
   */
  write(position: number, data: Uint8Array): Promise<void> {
    this.#queued.push({ position, data });
    this.#batch ??= this.#chain(() => {
      const writes = this.#queued;
      this.#queued = [];
      this.#batch = undefined;
      return this.#writeAll(writes);
    });
    return this.#batch;
  }

  /** Makes the file exist, empty if it is new. */
  create(): Promise<void> {
    return this.#chain(async () => {
      await this.#use();
    });
  }

  /** Makes everything that was written before durable. */
  sync(): Promise<void> {
    return this.#chain(() => this.#syncNow());
  }

  /**
   * Exactly `length` bytes. Rejects with StorageCorruptedError when the file is missing or too
   * short.
   */
  read(position: number, length: number): Promise<Uint8Array> {
    return this.#chain(async () => {
      const bytes = new Uint8Array(length);
      let count = 0;
      try {
        count = await (await this.#use()).read(bytes, position);
      } catch (error) {
        if (systemCodeOf(error) !== 'ENOENT') throw error;
        throw new StorageCorruptedError(this.path, undefined, 'it is missing', error);
      }
      if (count < length) {
        throw new StorageCorruptedError(this.path, position + count, 'it ends too early');
      }
      return bytes;
    });
  }

  /** Cuts what is behind `sizeBytes`; a file that is not longer stays as it is. */
  cut(sizeBytes: number): Promise<void> {
    return this.#chain(async () => {
      const handle = await this.#use();
      if ((await handle.size()) <= sizeBytes) return;
      await handle.truncate(sizeBytes);
      this.#dirty = true;
    });
  }

  /** Syncs and closes the file; it is opened again when needed. */
  release(): Promise<void> {
    return this.#chain(async () => {
      this.#open.closed(this);
      if (this.#handle === undefined) return;
      try {
        await this.#syncNow();
      } finally {
        await this.#close();
      }
    });
  }

  /** Closes and deletes the file; one that is gone already is no error. */
  remove(): Promise<void> {
    return this.#chain(async () => {
      this.#open.closed(this);
      this.#dirty = false;
      await this.#close();
      try {
        await this.#fs.unlink(this.path);
      } catch (error) {
        if (systemCodeOf(error) !== 'ENOENT') throw error;
      }
    });
  }

  #chain<T>(operation: () => Promise<T>): Promise<T> {
    const result = this.#tail.then(operation);
    const settled = () => undefined;
    this.#tail = result.then(settled, settled);
    return result;
  }

  async #use(): Promise<VirtualFile> {
    if (this.#handle === undefined) {
      this.#handle = await this.#fs.open(this.path, this.#fresh ? 'w+' : 'r+');
      this.#fresh = false;
    }
    this.#open.used(this);
    return this.#handle;
  }

  async #writeAll(writes: readonly QueuedWrite[]): Promise<void> {
    try {
      const handle = await this.#use();
      this.#dirty = true;
      for (let first = 0; first < writes.length; ) {
        const position = writes[first]?.position ?? 0;
        const buffers: Uint8Array[] = [];
        let end = position;
        for (; first < writes.length && writes[first]?.position === end; first++) {
          const data = writes[first]?.data ?? new Uint8Array(0);
          buffers.push(data);
          end += data.length;
        }
        await handle.writev(buffers, position);
      }
    } catch (error) {
      this.#failure ??= toError(error);
      throw error;
    }
  }

  async #syncNow(): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (!this.#dirty || this.#handle === undefined) return;
    try {
      await this.#handle.datasync();
      this.#dirty = false;
    } catch (error) {
      // After a failed sync the system may have dropped the pages: nothing more counts as durable.
      this.#failure = toError(error);
      throw error;
    }
  }

  async #close(): Promise<void> {
    const handle = this.#handle;
    this.#handle = undefined;
    await handle?.close();
  }
}
