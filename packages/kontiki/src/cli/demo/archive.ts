import { readdir, readFile, stat } from 'node:fs/promises';
import { join, relative, sep } from 'node:path';

const BLOCK_BYTES = 512;
const NAME_BYTES = 100;
const PREFIX_BYTES = 155;
const FILE_MODE = 0o644;

/** A file that goes into an archive. */
export interface ArchiveEntry {
  /** With forward slashes. */
  readonly name: string;
  readonly content: Uint8Array;
}

/** Name and prefix fields of a header; undefined when the name does not fit. */
function splitName(name: string): readonly [name: string, prefix: string] | undefined {
  if (Buffer.byteLength(name) <= NAME_BYTES) return [name, ''];
  for (let at = name.indexOf('/'); at > 0; at = name.indexOf('/', at + 1)) {
    const prefix = name.slice(0, at);
    const rest = name.slice(at + 1);
    if (Buffer.byteLength(rest) <= NAME_BYTES && Buffer.byteLength(prefix) <= PREFIX_BYTES) {
      return [rest, prefix];
    }
  }
  return undefined;
}

function octal(value: number, digits: number): string {
  return `${value.toString(8).padStart(digits, '0')}\0`;
}

function header(name: string, prefix: string, sizeBytes: number): Buffer {
  const block = Buffer.alloc(BLOCK_BYTES);
  block.write(name, 0);
  block.write(octal(FILE_MODE, 7), 100);
  block.write(octal(0, 7), 108);
  block.write(octal(0, 7), 116);
  block.write(octal(sizeBytes, 11), 124);
  block.write(octal(0, 11), 136);
  block.write(' '.repeat(8), 148);
  block.write('0', 156);
  block.write('ustar\x0000', 257, 'latin1');
  block.write(prefix, 345);
  let sum = 0;
  for (const byte of block) sum += byte;
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
  return block;
}

/** A tar archive (ustar) of files. Files whose names are too long for the format are left out. */
export function createArchive(entries: readonly ArchiveEntry[]): Buffer {
  const parts: Uint8Array[] = [];
  for (const { name, content } of entries) {
    const split = splitName(name);
    if (split === undefined) continue;
    parts.push(header(split[0], split[1], content.length), content);
    parts.push(Buffer.alloc((BLOCK_BYTES - (content.length % BLOCK_BYTES)) % BLOCK_BYTES));
  }
  parts.push(Buffer.alloc(2 * BLOCK_BYTES));
  return Buffer.concat(parts);
}

/** The files below a folder, dependencies left out, in order of their names. */
export async function readTree(
  root: string,
  isWanted: (name: string) => boolean,
): Promise<ArchiveEntry[]> {
  const names = (await readdir(root, { recursive: true })).sort();
  const entries: ArchiveEntry[] = [];
  for (const path of names) {
    const name = relative(root, join(root, path)).split(sep).join('/');
    if (!isWanted(name) || !(await stat(join(root, path))).isFile()) continue;
    entries.push({ name, content: await readFile(join(root, path)) });
  }
  return entries;
}
