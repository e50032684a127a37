import { join } from 'node:path';

/** Joins path parts as the platform does. */
export function joinPath(...parts: readonly string[]): string {
  return join(...parts);
}
