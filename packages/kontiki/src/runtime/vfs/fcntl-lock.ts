import type { FileHandle } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { messageOf } from '../../common/errors.js';
import { loadNativeModule, type NativeModule } from '../native-module.js';
import { FileLockUnsupportedError, systemCodeOf } from './errors.js';
import type { FileLock } from './types.js';

/** The part of `fs-native-extensions` that is used. */
interface NativeLocks {
  tryLock(fd: number): boolean;
  unlock(fd: number): void;
}

let native: NativeModule<NativeLocks> | undefined;

function nativeLocks(): NativeLocks {
  native ??= loadNativeModule<NativeLocks>('fs-native-extensions');
  if (native.module === undefined) {
    throw new FileLockUnsupportedError(
      `no file locks on ${process.platform}-${process.arch}: ${messageOf(native.error)}`,
      { cause: native.error },
    );
  }
  return native.module;
}

class HeldLock implements FileLock {
  readonly #handle: FileHandle;
  #released: Promise<void> | undefined;

  constructor(handle: FileHandle) {
    this.#handle = handle;
  }

  release(): Promise<void> {
    this.#released ??= this.#unlockAndClose();
    return this.#released;
  }

  async #unlockAndClose(): Promise<void> {
    try {
      nativeLocks().unlock(this.#handle.fd);
    } finally {
      await this.#handle.close();
    }
  }
}

async function openLockFile(path: string): Promise<FileHandle> {
  // 'r+' keeps the content; creation is exclusive, so that two creators do not truncate each other.
  for (;;) {
    try {
      return await open(path, 'r+');
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT') throw error;
    }
    try {
      return await open(path, 'wx+');
    } catch (error) {
      if (systemCodeOf(error) !== 'EEXIST') throw error;
    }
  }
}

/**
 * Takes the whole-file write lock without waiting; undefined when somebody else holds it (spec:
 * storage 1.6).
 *
 * Linux: an open-file-description record lock (`F_OFD_SETLK`). It conflicts with Java's `fcntl`
 * lock in both directions, and with a second lock of this same process; unlike Java's it is not
 * lost when another descriptor of the file is closed. The kernel drops it when the process dies.
 * macOS: a BSD lock, which excludes other Kontiki processes but not Java. Windows: `LockFileEx`.
 * Elsewhere: FileLockUnsupportedError.
 */
export async function tryLockFile(path: string, content: string): Promise<FileLock | undefined> {
  const locks = nativeLocks();
  const handle = await openLockFile(path);
  try {
    if (!locks.tryLock(handle.fd)) {
      await handle.close();
      return undefined;
    }
    // Not truncated: a longer old content keeps its tail, as the other implementation leaves it.
    await handle.write(Buffer.from(content, 'utf8'), 0, undefined, 0);
    await handle.datasync();
    return new HeldLock(handle);
  } catch (error) {
    await handle.close().catch(() => undefined);
    throw error;
  }
}
