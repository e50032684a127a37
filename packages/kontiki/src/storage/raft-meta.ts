import { messageOf } from '../common/errors.js';
import type { Logger } from '../common/logger.js';
import { NumberOutOfRangeException } from '../protocol/exceptions.js';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';
import { replaceFile } from './atomic-file.js';
import { StorageCorruptedError, StorageUnavailableError } from './errors.js';
import { escapeValue, parseProperties } from './java-properties.js';
import { joinPath } from './paths.js';
import type { RaftMetadata } from './types.js';

export const META_FILE = 'raft-meta';

const INT64_MAX = 0x7fff_ffff_ffff_ffffn;

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
const MONTHS = 'Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec'.split(' ');

/** As in `Mon Nov 30 20:42:27 UTC 2026`. */
function dateText(wallTimeMs: number): string {
  const date = new Date(wallTimeMs);
  const time = date.toISOString().slice(11, 19);
  const day = String(date.getUTCDate()).padStart(2, '0');
  const names = `${DAYS[date.getUTCDay()]} ${MONTHS[date.getUTCMonth()]}`;
  return `${names} ${day} ${time} UTC ${date.getUTCFullYear()}`;
}

/** Content of raft-meta (spec: storage 2). */
export function encodeMetadata(metadata: RaftMetadata, wallTimeMs: number): Uint8Array {
  const text =
    `#\n#${dateText(wallTimeMs)}\n` +
    `votedFor=${escapeValue(metadata.votedFor ?? '')}\nterm=${metadata.term}\n`;
  return new TextEncoder().encode(text);
}

function parseTerm(path: string, text: string): number {
  if (!/^[+-]?\d+$/.test(text)) {
    throw new StorageCorruptedError(path, undefined, `the term "${text}" is not a number`);
  }
  const term = BigInt(text.replace(/^\+/, ''));
  if (term < 0n) throw new StorageCorruptedError(path, undefined, `the term ${text} is negative`);
  if (term > INT64_MAX) {
    throw new StorageCorruptedError(path, undefined, `the term ${text} has more than 64 bits`);
  }
  if (term > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new NumberOutOfRangeException(`${path}: the term ${text} is beyond 2^53`);
  }
  return Number(term);
}

/**
 * Throws StorageCorruptedError on a missing key or bad number; NumberOutOfRangeException on a term
 * beyond 2^53.
 */
export function decodeMetadata(path: string, content: Uint8Array): RaftMetadata {
  let properties: Map<string, string>;
  try {
    properties = parseProperties(new TextDecoder('utf-8', { fatal: true }).decode(content));
  } catch (error) {
    throw new StorageCorruptedError(path, undefined, messageOf(error), error);
  }
  const term = properties.get('term');
  const votedFor = properties.get('votedFor');
  if (term === undefined || votedFor === undefined) {
    const missing = term === undefined ? 'term' : 'votedFor';
    throw new StorageCorruptedError(path, undefined, `the key ${missing} is missing`);
  }
  // An empty vote is none; the other implementation takes it for a vote after a restart (spec:
  // H-16).
  return { term: parseTerm(path, term), votedFor: votedFor === '' ? undefined : votedFor };
}

export async function readMetadata(
  fs: VirtualFileSystem,
  directory: string,
): Promise<RaftMetadata> {
  const path = joinPath(directory, META_FILE);
  let content: Uint8Array;
  try {
    content = await fs.readFile(path);
  } catch (error) {
    throw new StorageUnavailableError(`${path} cannot be read: ${messageOf(error)}`, {
      cause: error,
    });
  }
  return decodeMetadata(path, content);
}

export function writeMetadata(
  fs: VirtualFileSystem,
  directory: string,
  metadata: RaftMetadata,
  wallTimeMs: number,
  logger: Logger,
): Promise<void> {
  return replaceFile(fs, directory, META_FILE, encodeMetadata(metadata, wallTimeMs), logger);
}
