import type { Logger } from '../common/logger.js';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';
import { joinPath } from './paths.js';
import type { RaftStorage } from './types.js';

/** A complete snapshot that is about to become the state machine's directory. */
const COMPLETE = 'sm.installing';
/** The state machine's directory that it replaces. */
const REPLACED = 'sm.replaced';
/** What the other implementation calls the replaced directory, with a time behind it. */
const JAVA_REPLACED = /^sm\.tmp\d/;
const INCOMING = /^snapshot-/;

export interface SwapOptions {
  readonly storage: Pick<
    RaftStorage,
    'rootDirectory' | 'stateMachineDirectory' | 'temporaryDirectory'
  >;
  readonly fs: VirtualFileSystem;
  readonly logger: Logger;
}

/** Where the files of one transfer are gathered (spec: storage 11). */
export function incomingDirectory(storage: SwapOptions['storage'], requestId: string): string {
  return joinPath(storage.temporaryDirectory, `snapshot-${requestId}`);
}

/**
 * Puts a received snapshot in the place of the state machine's directory. Whatever was there is
 * discarded. After a crash at any point `repairSnapshotSwap` finds the old or the new directory
 * whole (spec: storage 11).
 */
export async function swapSnapshot(options: SwapOptions, received: string): Promise<void> {
  const { storage, fs, logger } = options;
  const { rootDirectory, stateMachineDirectory } = storage;
  const complete = joinPath(rootDirectory, COMPLETE);
  const replaced = joinPath(rootDirectory, REPLACED);
  await fs.removeTree(complete);
  await fs.removeTree(replaced);
  await fs.rename(received, complete);
  await fs.syncDirectory(rootDirectory);
  if (await fs.exists(stateMachineDirectory)) {
    await fs.rename(stateMachineDirectory, replaced);
    await fs.syncDirectory(rootDirectory);
  }
  await fs.rename(complete, stateMachineDirectory);
  await fs.syncDirectory(rootDirectory);
  await discard(fs, replaced, logger);
}

/**
 * At start: finishes a swap whose old directory is out of the way, and undoes one that had not got
 * so far. What broken transfers left is removed: the next one starts over. A directory that the
 * other implementation moved away and did not replace is put back.
 */
export async function repairSnapshotSwap(options: SwapOptions): Promise<void> {
  const { storage, fs, logger } = options;
  const { rootDirectory, stateMachineDirectory } = storage;
  const names = (await fs.list(rootDirectory))
    .filter((entry) => entry.isDirectory)
    .map((entry) => entry.name);
  if (!names.includes('sm')) {
    const moved = names.filter((name) => JAVA_REPLACED.test(name)).sort();
    const source = [COMPLETE, REPLACED].find((name) => names.includes(name)) ?? moved.at(-1);
    if (source !== undefined) {
      logger.log('warn', `the state machine's directory was being replaced: taking ${source}`);
      await fs.rename(joinPath(rootDirectory, source), stateMachineDirectory);
      await fs.syncDirectory(rootDirectory);
    }
  }
  for (const name of [COMPLETE, REPLACED]) {
    if (names.includes(name)) await discard(fs, joinPath(rootDirectory, name), logger);
  }
  await discardIncoming(options);
}

/** Removes what transfers left behind that did not get to their end. */
export async function discardIncoming(options: SwapOptions): Promise<void> {
  const { storage, fs, logger } = options;
  const { temporaryDirectory } = storage;
  if (!(await fs.exists(temporaryDirectory))) return;
  for (const { name, isDirectory } of await fs.list(temporaryDirectory)) {
    if (!isDirectory || !INCOMING.test(name)) continue;
    await discard(fs, joinPath(temporaryDirectory, name), logger);
  }
}

async function discard(fs: VirtualFileSystem, path: string, logger: Logger): Promise<void> {
  try {
    await fs.removeTree(path);
  } catch (error) {
    logger.log('warn', `${path} cannot be removed`, { error });
  }
}
