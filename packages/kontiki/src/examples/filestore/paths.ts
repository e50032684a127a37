import { posix } from 'node:path';
import { IllegalArgumentException } from '../../protocol/exceptions.js';
import { joinPath } from '../../storage/paths.js';

const DATA_FILE_NAME = /^(.+)@(\d+)$/;
/** File systems take 255 bytes; the rest is for the version. */
const MAX_NAME_BYTES = 230;

/**
 * The relative path that a client's path means (spec: examples 5.3). Throws
 * IllegalArgumentException when it is not strictly below the root, or too long.
 */
export function normalizePath(path: string, root: string): string {
  const full = posix.resolve(root, path);
  if (full === root) {
    throw new IllegalArgumentException(
      `The file path ${path} resolved to ${full} is the root directory ${root}`,
    );
  }
  const prefix = root.endsWith('/') ? root : `${root}/`;
  if (!full.startsWith(prefix)) {
    throw new IllegalArgumentException(
      `The file path ${path} resolved to ${full} is not a sub-path under root directory ${root}`,
    );
  }
  const relative = full.slice(prefix.length);
  if (encodeURIComponent(relative).length > MAX_NAME_BYTES) {
    throw new IllegalArgumentException(`The file path ${path} is too long`);
  }
  return relative;
}

/**
 * The file that holds the data of one version of a path: one flat folder, and a name of its own for
 * each version, so that a write that is not committed cannot touch what is.
 */
export function dataFilePath(directory: string, path: string, versionId: number): string {
  return joinPath(directory, `${encodeURIComponent(path)}@${versionId}`);
}

/** What a data file's name says; undefined when it is no such name. */
export function parseDataFileName(name: string): { path: string; versionId: number } | undefined {
  const match = DATA_FILE_NAME.exec(name);
  if (match?.[1] === undefined) return undefined;
  const versionId = Number(match[2]);
  if (!Number.isSafeInteger(versionId)) return undefined;
  try {
    return { path: decodeURIComponent(match[1]), versionId };
  } catch {
    // Not percent-encoded: not ours.
    return undefined;
  }
}
