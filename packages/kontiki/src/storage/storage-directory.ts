import type { Logger } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import { systemCodeOf } from '../runtime/vfs/errors.js';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';
import { StorageExistsError, StorageUnavailableError, StorageVolumeError } from './errors.js';
import { joinPath } from './paths.js';
import { StorageRoot } from './storage-root.js';
import type { OpenStorageOptions, RaftStorage } from './types.js';

export interface StorageContext {
  readonly fs: VirtualFileSystem;
  readonly runtime: Runtime;
  readonly logger: Logger;
}

type OpenOptions = OpenStorageOptions & StorageContext;

/** Up to this many times a removal goes on when files vanish meanwhile (spec: storage 1.5). */
const REMOVE_ATTEMPTS = 5;

/** Names directly inside a volume; a missing volume is empty. */
async function namesIn(fs: VirtualFileSystem, volume: string): Promise<string[]> {
  if (!(await fs.exists(volume))) return [];
  return (await fs.list(volume)).map((entry) => entry.name);
}

function openRoot(options: OpenOptions, volume: string): Promise<StorageRoot> {
  const { fs, runtime, logger, freeSpaceMinBytes, groupUuid } = options;
  const rootDirectory = joinPath(volume, groupUuid);
  const root = { rootDirectory, freeSpaceMinBytes, fs, runtime, logger };
  return StorageRoot.open(root, options.startupOption);
}

/**
 * Tries the volumes by number of entries, emptiest first, until one can be formatted (spec: storage
 * 1.3).
 */
async function formatOnEmptiest(options: OpenOptions): Promise<RaftStorage> {
  const { fs, logger, groupUuid, volumes } = options;
  const counted: { volume: string; count: number }[] = [];
  let firstError: unknown;
  for (const volume of volumes) {
    try {
      counted.push({ volume, count: (await namesIn(fs, volume)).length });
    } catch (error) {
      firstError ??= error;
      logger.log('warn', `volume ${volume} cannot be read`, { error });
    }
  }
  counted.sort((a, b) => a.count - b.count);
  for (const { volume } of counted) {
    try {
      return await openRoot({ ...options, startupOption: 'FORMAT' }, volume);
    } catch (error) {
      firstError ??= error;
      logger.log('warn', `group ${groupUuid} cannot be created on volume ${volume}`, { error });
      await removeHalfMade(options, volume);
    }
  }
  throw firstError ?? new StorageUnavailableError('no volume is configured');
}

/**
 * A failed formatting must not be taken for the group's home at the next start (spec: storage
 * 14.14).
 */
async function removeHalfMade(options: OpenOptions, volume: string): Promise<void> {
  const { fs, logger, groupUuid } = options;
  const rootDirectory = joinPath(volume, groupUuid);
  try {
    // Somebody else's lock file means that the directory is theirs.
    const root = { ...options, rootDirectory };
    if (!(await fs.exists(rootDirectory))) return;
    if (await StorageRoot.isOwnedByOther(root)) return;
    await fs.removeTree(rootDirectory);
  } catch (error) {
    logger.log('warn', `the half-made ${rootDirectory} stays`, { error });
  }
}

/**
 * Opens the storage of a group: chooses the volume, takes the lock, formats or recovers (spec:
 * storage 1.2, 1.3). Rejects with one of StorageExistsError, StorageVolumeError,
 * StorageLockedError, StorageNotFormattedError, StorageUnavailableError, NoSpaceError,
 * StorageCorruptedError.
 */
export async function openStorage(options: OpenOptions): Promise<RaftStorage> {
  const { fs, volumes, groupUuid, startupOption, logger } = options;
  const existing: string[] = [];
  for (const volume of volumes) {
    try {
      if ((await namesIn(fs, volume)).includes(groupUuid)) existing.push(volume);
    } catch (error) {
      logger.log('warn', `volume ${volume} cannot be read`, { error });
    }
  }
  const [only] = existing;
  if (existing.length > 1) {
    throw new StorageVolumeError(
      `group ${groupUuid} is on ${existing.length} volumes: ${existing}`,
    );
  }
  if (only === undefined) {
    if (startupOption === 'RECOVER' && volumes.length > 1) {
      throw new StorageVolumeError(`group ${groupUuid} is on none of the volumes ${volumes}`);
    }
    return formatOnEmptiest(options);
  }
  if (startupOption === 'FORMAT') {
    throw new StorageExistsError(
      `${joinPath(only, groupUuid)} exists already: it can be recovered, not formatted`,
    );
  }
  return openRoot(options, only);
}

const UUID = /^([0-9a-f]{1,8})-([0-9a-f]{1,4})-([0-9a-f]{1,4})-([0-9a-f]{1,4})-([0-9a-f]{1,12})$/i;

/**
 * Canonical text of a UUID in the lenient form that Java reads; undefined for other names and for
 * all zeros.
 */
function canonicalUuid(name: string): string | undefined {
  const match = UUID.exec(name);
  if (match === null) return undefined;
  const widths = [8, 4, 4, 4, 12];
  const text = widths.map((width, i) => (match[i + 1] ?? '').padStart(width, '0')).join('-');
  return /[1-9a-f]/i.test(text) ? text.toLowerCase() : undefined;
}

/** Groups that have a directory on one of the volumes, each once (spec: storage 1.4). */
export async function discoverGroups(
  volumes: readonly string[],
  fs: VirtualFileSystem,
): Promise<string[]> {
  const found = new Set<string>();
  for (const volume of volumes) {
    if (!(await fs.exists(volume))) continue;
    for (const { name, isDirectory } of await fs.list(volume)) {
      const uuid = isDirectory ? canonicalUuid(name) : undefined;
      if (uuid !== undefined) found.add(uuid);
    }
  }
  return [...found];
}

/** What becomes of the directory of a group that is removed (spec: storage 1.5). */
export interface RemoveGroupOptions {
  readonly fs: VirtualFileSystem;
  readonly logger: Logger;
  readonly rootDirectory: string;
  readonly groupUuid: string;
  readonly deleteDirectory: boolean;
  readonly renameDirectory: boolean;
  /** `raft.server.removed.groups.dir`. */
  readonly removedGroupsDirectory: string;
}

async function removeTree(options: RemoveGroupOptions): Promise<void> {
  const { fs, rootDirectory } = options;
  for (let attempt = 1; ; attempt++) {
    try {
      await fs.removeTree(rootDirectory);
      return;
    } catch (error) {
      if (systemCodeOf(error) !== 'ENOENT' || attempt === REMOVE_ATTEMPTS) throw error;
    }
  }
}

async function moveTree(options: RemoveGroupOptions, from: string, to: string): Promise<void> {
  const { fs, logger } = options;
  await fs.mkdir(to, { recursive: true });
  for (const { name, isDirectory } of await fs.list(from)) {
    const source = joinPath(from, name);
    const target = joinPath(to, name);
    try {
      if (isDirectory) await moveTree(options, source, target);
      else await moveFile(fs, source, target);
    } catch (error) {
      logger.log('warn', `${source} is lost to the removal of its group`, { error });
    }
  }
}

async function moveFile(fs: VirtualFileSystem, source: string, target: string): Promise<void> {
  try {
    await fs.rename(source, target);
  } catch (error) {
    if (systemCodeOf(error) !== 'EXDEV') throw error;
    const file = await fs.open(target, 'w');
    try {
      await file.writev([await fs.readFile(source)], 0);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.unlink(source);
  }
}

/**
 * Deletes, moves away or leaves the directory of a group whose division is closed. Errors are only
 * logged (spec: storage 1.5).
 */
export async function removeGroupStorage(options: RemoveGroupOptions): Promise<void> {
  const { logger, rootDirectory, removedGroupsDirectory, groupUuid } = options;
  try {
    if (!options.deleteDirectory) {
      if (!options.renameDirectory) return;
      await moveTree(options, rootDirectory, joinPath(removedGroupsDirectory, groupUuid));
    }
    await removeTree(options);
  } catch (error) {
    logger.log('error', `removing ${rootDirectory} failed`, { error });
  }
}
