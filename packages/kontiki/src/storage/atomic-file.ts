import type { Logger } from '../common/logger.js';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';
import { joinPath } from './paths.js';

/** Suffix of the file that is written before it takes another's place. */
export const TEMPORARY_SUFFIX = '.tmp';

/**
 * Replaces a file by `content`: old or new content is there at every moment, and the new one is
 * durable when this resolves (spec: storage 2). The temporary file is deleted on failure.
 */
export async function replaceFile(
  fs: VirtualFileSystem,
  directory: string,
  name: string,
  content: Uint8Array,
  logger: Logger,
): Promise<void> {
  const path = joinPath(directory, name);
  const temporary = path + TEMPORARY_SUFFIX;
  try {
    const file = await fs.open(temporary, 'w');
    try {
      await file.writev([content], 0);
      await file.sync();
    } finally {
      await file.close();
    }
    await fs.rename(temporary, path);
  } catch (error) {
    await fs.unlink(temporary).catch((unlinkError: unknown) => {
      logger.log('debug', `${temporary} stays`, { error: unlinkError });
    });
    throw error;
  }
  await fs.syncDirectory(directory);
}
