import { constants } from 'node:fs';
import * as fsp from 'node:fs/promises';
import { systemCodeOf } from './errors.js';
import { tryLockFile } from './fcntl-lock.js';
import type { DirectoryEntry, FileLock, VirtualFile, VirtualFileSystem } from './types.js';

const ZERO_BLOCK_BYTES = 1 << 20;
let zeroBlock: Uint8Array | undefined;

/** Buffers behind the first `count` bytes. */
function withoutPrefix(buffers: readonly Uint8Array[], count: number): Uint8Array[] {
  const rest: Uint8Array[] = [];
  let skip = count;
  for (const buffer of buffers) {
    if (skip >= buffer.length) skip -= buffer.length;
    else {
      rest.push(skip === 0 ? buffer : buffer.subarray(skip));
      skip = 0;
    }
  }
  return rest;
}

class NodeFile implements VirtualFile {
  readonly #handle: fsp.FileHandle;

  constructor(handle: fsp.FileHandle) {
    this.#handle = handle;
  }

  async writev(buffers: readonly Uint8Array[], position: number): Promise<void> {
    let rest = buffers as Uint8Array[];
    let total = 0;
    for (const buffer of buffers) total += buffer.length;
    let at = position;
    while (at < position + total) {
      const only = rest.length === 1 ? rest[0] : undefined;
      const { bytesWritten } =
        only === undefined
          ? await this.#handle.writev(rest, at)
          : await this.#handle.write(only, 0, only.length, at);
      at += bytesWritten;
      if (at < position + total) rest = withoutPrefix(rest, bytesWritten);
    }
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    let done = 0;
    while (done < buffer.length) {
      const { bytesRead } = await this.#handle.read(
        buffer,
        done,
        buffer.length - done,
        position + done,
      );
      if (bytesRead === 0) break;
      done += bytesRead;
    }
    return done;
  }

  datasync(): Promise<void> {
    return this.#handle.datasync();
  }

  sync(): Promise<void> {
    return this.#handle.sync();
  }

  truncate(sizeBytes: number): Promise<void> {
    return this.#handle.truncate(sizeBytes);
  }

  /**
   * Zeros are really written: a sparse file would need new blocks, and so a journal commit, in
   * every later sync.
   */
  async allocate(sizeBytes: number): Promise<void> {
    zeroBlock ??= new Uint8Array(ZERO_BLOCK_BYTES);
    for (let at = await this.size(); at < sizeBytes; ) {
      const block = zeroBlock.subarray(0, Math.min(ZERO_BLOCK_BYTES, sizeBytes - at));
      await this.writev([block], at);
      at += block.length;
    }
  }

  async size(): Promise<number> {
    return (await this.#handle.stat()).size;
  }

  close(): Promise<void> {
    return this.#handle.close();
  }
}

/** The file system of the machine. */
class NodeFileSystem implements VirtualFileSystem {
  async open(path: string, flags: string): Promise<VirtualFile> {
    return new NodeFile(await fsp.open(path, flags));
  }

  readFile(path: string): Promise<Uint8Array> {
    return fsp.readFile(path);
  }

  rename(from: string, to: string): Promise<void> {
    return fsp.rename(from, to);
  }

  unlink(path: string): Promise<void> {
    return fsp.unlink(path);
  }

  async mkdir(path: string, options: { readonly recursive: boolean }): Promise<void> {
    await fsp.mkdir(path, options);
  }

  removeTree(path: string): Promise<void> {
    return fsp.rm(path, { recursive: true, force: true });
  }

  async list(path: string): Promise<DirectoryEntry[]> {
    const entries = await fsp.readdir(path, { withFileTypes: true });
    return entries.map((entry) => ({ name: entry.name, isDirectory: entry.isDirectory() }));
  }

  async exists(path: string): Promise<boolean> {
    try {
      await fsp.stat(path);
      return true;
    } catch (error) {
      const code = systemCodeOf(error);
      if (code === 'ENOENT' || code === 'ENOTDIR') return false;
      throw error;
    }
  }

  async stat(path: string): Promise<{ sizeBytes: number; isDirectory: boolean }> {
    const stats = await fsp.stat(path);
    return { sizeBytes: stats.size, isDirectory: stats.isDirectory() };
  }

  async isWritable(path: string): Promise<boolean> {
    try {
      await fsp.access(path, constants.W_OK);
      return true;
    } catch {
      return false;
    }
  }

  async syncDirectory(path: string): Promise<void> {
    // Windows has no handle on a directory that could be synced; its file system journals renames
    // by itself.
    if (process.platform === 'win32') return;
    const handle = await fsp.open(path, 'r');
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  }

  async freeBytes(path: string): Promise<number> {
    const stats = await fsp.statfs(path);
    return stats.bfree * stats.bsize;
  }

  tryLock(path: string, content: string): Promise<FileLock | undefined> {
    return tryLockFile(path, content);
  }
}

/** The file system of the machine, by `node:fs`. */
export function nodeFileSystem(): VirtualFileSystem {
  return new NodeFileSystem();
}
