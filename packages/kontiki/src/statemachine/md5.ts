import { createHash } from 'node:crypto';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';

/** Ending of the file that holds the MD5 of the file beside it. */
export const MD5_SUFFIX = '.md5';

const MD5_LINE = /^([0-9a-f]{32}) [ *](.+)$/;
const READ_BLOCK_BYTES = 1 << 20;

/** The content of an MD5 file (spec: storage 10.1). */
export function formatMd5Line(digest: Uint8Array, fileName: string): string {
  return `${Buffer.from(digest).toString('hex')} *${fileName}\n`;
}

/**
 * The digest in an MD5 file: only the first line counts, and it must name `fileName`, perhaps with
 * a path before it. Undefined when it does not (spec: storage 10.1).
 */
export function parseMd5Line(text: string, fileName: string): Uint8Array | undefined {
  const match = MD5_LINE.exec((text.split(/\r\n|\r|\n/, 1)[0] ?? '').trim());
  if (match?.[1] === undefined || match[2]?.split('/').at(-1) !== fileName) return undefined;
  return new Uint8Array(Buffer.from(match[1], 'hex'));
}

/** MD5 of a whole file, 16 bytes. */
export async function digestFile(fs: VirtualFileSystem, path: string): Promise<Uint8Array> {
  const hash = createHash('md5');
  const block = new Uint8Array(READ_BLOCK_BYTES);
  const file = await fs.open(path, 'r');
  try {
    for (let position = 0; ; ) {
      const count = await file.read(block, position);
      if (count === 0) break;
      hash.update(block.subarray(0, count));
      position += count;
    }
  } finally {
    await file.close();
  }
  return new Uint8Array(hash.digest());
}
