import { nodeFileSystem } from './node-file-system.js';
import type { DirectoryEntry, FileLock, VirtualFile, VirtualFileSystem } from './types.js';

/**
 * Node's file system for a process that is killed before a chosen change: that one and all later
 * ones fail and change nothing. For tests.
 */
export class CrashingFileSystem implements VirtualFileSystem {
  readonly #inner = nodeFileSystem();
  /** Changes made so far that `counts` counted. */
  steps = 0;
  /** The change before which it ends, counted from 1. */
  crashAt = Number.POSITIVE_INFINITY;
  /** Whether changes count from now on; asked before each with its path. */
  counts: (path: string) => boolean = () => true;
  #counting = false;

  get hasCrashed(): boolean {
    return this.steps >= this.crashAt;
  }

  #step(path: string): void {
    this.#counting ||= this.counts(path);
    if (this.#counting) this.steps++;
    if (this.hasCrashed) throw Object.assign(new Error(`crashed before ${path}`), { code: 'EIO' });
  }

  async open(path: string, flags: string): Promise<VirtualFile> {
    if (flags !== 'r') this.#step(path);
    const file = await this.#inner.open(path, flags);
    const step = (): void => this.#step(path);
    return {
      writev: async (buffers, position) => {
        step();
        await file.writev(buffers, position);
      },
      read: (buffer, position) => file.read(buffer, position),
      datasync: async () => {
        step();
        await file.datasync();
      },
      sync: async () => {
        step();
        await file.sync();
      },
      truncate: async (sizeBytes) => {
        step();
        await file.truncate(sizeBytes);
      },
      allocate: async (sizeBytes) => {
        step();
        await file.allocate(sizeBytes);
      },
      size: () => file.size(),
      close: () => file.close(),
    };
  }

  async rename(from: string, to: string): Promise<void> {
    this.#step(from);
    await this.#inner.rename(from, to);
  }

  async unlink(path: string): Promise<void> {
    this.#step(path);
    await this.#inner.unlink(path);
  }

  async mkdir(path: string, options: { readonly recursive: boolean }): Promise<void> {
    this.#step(path);
    await this.#inner.mkdir(path, options);
  }

  async removeTree(path: string): Promise<void> {
    this.#step(path);
    await this.#inner.removeTree(path);
  }

  async syncDirectory(path: string): Promise<void> {
    this.#step(path);
    await this.#inner.syncDirectory(path);
  }

  readFile(path: string): Promise<Uint8Array> {
    return this.#inner.readFile(path);
  }
  list(path: string): Promise<DirectoryEntry[]> {
    return this.#inner.list(path);
  }
  exists(path: string): Promise<boolean> {
    return this.#inner.exists(path);
  }
  stat(path: string): Promise<{ readonly sizeBytes: number; readonly isDirectory: boolean }> {
    return this.#inner.stat(path);
  }
  isWritable(path: string): Promise<boolean> {
    return this.#inner.isWritable(path);
  }
  freeBytes(path: string): Promise<number> {
    return this.#inner.freeBytes(path);
  }
  tryLock(path: string, content: string): Promise<FileLock | undefined> {
    return this.#inner.tryLock(path, content);
  }
}
