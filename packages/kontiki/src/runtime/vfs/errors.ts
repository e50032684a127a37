import { KontikiError } from '../../common/errors.js';

/**
 * This platform has no file lock that excludes other processes (no build of the native package).
 */
export class FileLockUnsupportedError extends KontikiError {
  readonly code = 'KONTIKI_FILE_LOCK_UNSUPPORTED';
}

/** The system's error code of anything thrown by a file system call, such as ENOENT. */
export function systemCodeOf(thrown: unknown): string | undefined {
  if (typeof thrown !== 'object' || thrown === null || !('code' in thrown)) return undefined;
  return typeof thrown.code === 'string' ? thrown.code : undefined;
}
