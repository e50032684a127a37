/**
 * The file system as storage uses it. Node's in production; the simulator's loses what was not
 * synced. All errors are NodeJS.ErrnoException-like (`code` ENOENT, ENOSPC, EIO ...). Paths are
 * absolute.
 */
export interface VirtualFile {
  /** Writes all buffers at `position`, in order, completely (repeats short writes). */
  writev(buffers: readonly Uint8Array[], position: number): Promise<void>;
  /**
   * Reads up to `buffer.length` bytes at `position`; returns the count, 0 at the end of the file.
   */
  read(buffer: Uint8Array, position: number): Promise<number>;
  datasync(): Promise<void>;
  sync(): Promise<void>;
  truncate(sizeBytes: number): Promise<void>;
  /**
   * Extends the file with zeros from its end to `sizeBytes` (blocks allocated where the system
   * can).
   */
  allocate(sizeBytes: number): Promise<void>;
  size(): Promise<number>;
  close(): Promise<void>;
}

/** An exclusive lock on a file, held against other processes, Java included (spec: storage 1.6). */
export interface FileLock {
  release(): Promise<void>;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly isDirectory: boolean;
}

export interface VirtualFileSystem {
  /** flags as Node's: 'r', 'r+', 'w', 'wx', 'a+' ... */
  open(path: string, flags: string): Promise<VirtualFile>;
  readFile(path: string): Promise<Uint8Array>;
  rename(from: string, to: string): Promise<void>;
  unlink(path: string): Promise<void>;
  mkdir(path: string, options: { readonly recursive: boolean }): Promise<void>;
  removeTree(path: string): Promise<void>;
  list(path: string): Promise<DirectoryEntry[]>;
  exists(path: string): Promise<boolean>;
  stat(path: string): Promise<{ readonly sizeBytes: number; readonly isDirectory: boolean }>;
  isWritable(path: string): Promise<boolean>;
  /** Makes creations, renames and removals in the directory durable. */
  syncDirectory(path: string): Promise<void>;
  /** Free bytes, root-reserved blocks included (spec: storage 1.1). */
  freeBytes(path: string): Promise<number>;
  /**
   * Takes the lock and writes `content` at the file's start; undefined when somebody else holds it.
   */
  tryLock(path: string, content: string): Promise<FileLock | undefined>;
}
