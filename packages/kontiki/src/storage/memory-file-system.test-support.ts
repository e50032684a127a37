import { basename, dirname } from 'node:path';
import type {
  DirectoryEntry,
  FileLock,
  VirtualFile,
  VirtualFileSystem,
} from '../runtime/vfs/types.js';

/**
 * A file system in memory for this folder's tests, whose power can be cut and whose operations can
 * fail.
 */

const SECTOR_BYTES = 512;

class Inode {
  content: Uint8Array;
  durable: Uint8Array;

  constructor(content: Uint8Array = new Uint8Array(0)) {
    this.content = content;
    this.durable = content;
  }

  /**
   * Content after a power cut: of what was not synced, any sectors may be there, and the old or new
   * size.
   */
  afterPowerCut(random: () => number): Uint8Array {
    const { content, durable } = this;
    const sizeBytes = random() < 0.5 ? content.length : durable.length;
    const result = new Uint8Array(sizeBytes);
    for (let at = 0; at < sizeBytes; at += SECTOR_BYTES) {
      const source = random() < 0.5 ? content : durable;
      const end = Math.min(at + SECTOR_BYTES, sizeBytes);
      if (at < source.length) result.set(source.subarray(at, Math.min(end, source.length)), at);
    }
    return result;
  }
}

function systemError(code: string, path: string): Error {
  return Object.assign(new Error(`${code}: ${path}`), { code });
}

export type Operation = 'writev' | 'datasync' | 'sync' | 'truncate' | 'rename' | 'open' | 'read';

/** Decides before each operation whether it fails; a code such as EIO makes it fail. */
export type FaultRule = (operation: Operation, path: string) => string | undefined;

class MemoryFile implements VirtualFile {
  readonly #inode: Inode;
  readonly #path: string;
  readonly #fs: MemoryFileSystem;

  constructor(fs: MemoryFileSystem, inode: Inode, path: string) {
    this.#fs = fs;
    this.#inode = inode;
    this.#path = path;
  }

  async writev(buffers: readonly Uint8Array[], position: number): Promise<void> {
    this.#fs.step('writev', this.#path);
    const total = buffers.reduce((sum, buffer) => sum + buffer.length, 0);
    const old = this.#inode.content;
    const next = new Uint8Array(Math.max(old.length, position + total));
    next.set(old);
    let at = position;
    for (const buffer of buffers) {
      next.set(buffer, at);
      at += buffer.length;
    }
    this.#inode.content = next;
  }

  async read(buffer: Uint8Array, position: number): Promise<number> {
    this.#fs.step('read', this.#path);
    const part = this.#inode.content.subarray(position, position + buffer.length);
    buffer.set(part);
    return part.length;
  }

  async datasync(): Promise<void> {
    this.#fs.step('datasync', this.#path);
    const synced = this.#inode.content;
    await this.#fs.pause();
    this.#inode.durable = synced;
  }

  async sync(): Promise<void> {
    this.#fs.step('sync', this.#path);
    this.#inode.durable = this.#inode.content;
  }

  async truncate(sizeBytes: number): Promise<void> {
    this.#fs.step('truncate', this.#path);
    const next = new Uint8Array(sizeBytes);
    next.set(this.#inode.content.subarray(0, sizeBytes));
    this.#inode.content = next;
  }

  async allocate(sizeBytes: number): Promise<void> {
    if (sizeBytes > this.#inode.content.length) await this.truncate(sizeBytes);
  }

  async size(): Promise<number> {
    return this.#inode.content.length;
  }

  async close(): Promise<void> {
    // Nothing is held.
  }
}

export class MemoryFileSystem implements VirtualFileSystem {
  fault: FaultRule = () => undefined;
  /** Awaited inside every datasync. */
  pause: () => Promise<void> = async () => undefined;
  #names = new Map<string, Inode>();
  #durableNames = new Map<string, Inode>();
  /** Changes of names that are not durable yet, in order. */
  #nameChanges: ((names: Map<string, Inode>) => void)[] = [];
  readonly #directories = new Set<string>();
  readonly #locks = new Set<string>();

  /** The file system as it is found after the power was cut now. */
  afterPowerCut(random: () => number): MemoryFileSystem {
    const next = new MemoryFileSystem();
    const names = new Map(this.#durableNames);
    // A journal keeps the order of changes: a prefix of them is there.
    const kept = Math.floor(random() * (this.#nameChanges.length + 1));
    for (const change of this.#nameChanges.slice(0, kept)) change(names);
    for (const [path, inode] of names) {
      const found = new Inode(inode.afterPowerCut(random));
      next.#names.set(path, found);
      next.#durableNames.set(path, found);
    }
    for (const directory of this.#directories) next.#directories.add(directory);
    return next;
  }

  setFile(path: string, content: Uint8Array): void {
    const inode = new Inode(content);
    this.#names.set(path, inode);
    this.#durableNames.set(path, inode);
  }

  contentOf(path: string): Uint8Array | undefined {
    return this.#names.get(path)?.content;
  }

  step(operation: Operation, path: string): void {
    const code = this.fault(operation, path);
    if (code !== undefined) throw systemError(code, path);
  }

  async open(path: string, flags: string): Promise<VirtualFile> {
    this.step('open', path);
    let inode = this.#names.get(path);
    if (inode !== undefined && flags.includes('x')) throw systemError('EEXIST', path);
    if (inode === undefined) {
      if (flags.startsWith('r')) throw systemError('ENOENT', path);
      inode = new Inode();
      this.#change((names) => names.set(path, inode as Inode));
    } else if (flags.startsWith('w')) inode.content = new Uint8Array(0);
    return new MemoryFile(this, inode, path);
  }

  async readFile(path: string): Promise<Uint8Array> {
    const inode = this.#names.get(path);
    if (inode === undefined) throw systemError('ENOENT', path);
    return inode.content.slice();
  }

  async rename(from: string, to: string): Promise<void> {
    this.step('rename', from);
    const inode = this.#names.get(from);
    if (inode === undefined) throw systemError('ENOENT', from);
    this.#change((names) => {
      names.delete(from);
      names.set(to, inode);
    });
  }

  async unlink(path: string): Promise<void> {
    if (!this.#names.has(path)) throw systemError('ENOENT', path);
    this.#change((names) => names.delete(path));
  }

  async mkdir(path: string): Promise<void> {
    for (let at = path; !this.#directories.has(at); at = dirname(at)) this.#directories.add(at);
  }

  async removeTree(path: string): Promise<void> {
    this.#directories.delete(path);
    for (const name of [...this.#names.keys()]) {
      if (name.startsWith(`${path}/`)) await this.unlink(name);
    }
  }

  async list(path: string): Promise<DirectoryEntry[]> {
    const inside = (all: Iterable<string>) => [...all].filter((name) => dirname(name) === path);
    return [
      ...inside(this.#names.keys()).map((name) => ({ name: basename(name), isDirectory: false })),
      ...inside(this.#directories).map((name) => ({ name: basename(name), isDirectory: true })),
    ];
  }

  async exists(path: string): Promise<boolean> {
    return this.#names.has(path) || this.#directories.has(path);
  }

  async stat(path: string): Promise<{ sizeBytes: number; isDirectory: boolean }> {
    const inode = this.#names.get(path);
    if (inode === undefined && !this.#directories.has(path)) throw systemError('ENOENT', path);
    return { sizeBytes: inode?.content.length ?? 0, isDirectory: inode === undefined };
  }

  async isWritable(): Promise<boolean> {
    return true;
  }

  async syncDirectory(): Promise<void> {
    this.#durableNames = new Map(this.#names);
    this.#nameChanges = [];
  }

  async freeBytes(): Promise<number> {
    return 1 << 30;
  }

  async tryLock(path: string): Promise<FileLock | undefined> {
    if (this.#locks.has(path)) return undefined;
    this.#locks.add(path);
    return {
      release: async () => {
        this.#locks.delete(path);
      },
    };
  }

  #change(change: (names: Map<string, Inode>) => void): void {
    change(this.#names);
    this.#nameChanges.push(change);
  }
}

/** Reproducible numbers in [0, 1). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
}
