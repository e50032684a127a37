import type { Logger } from '../common/logger.js';
import {
  configurationOf,
  createConfigurationEntry,
  parseStoredEntry,
} from '../proto/wire/index.js';
import { EntryKind } from '../proto/wire/types.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import type { VirtualFileSystem } from '../runtime/vfs/types.js';
import { replaceFile } from './atomic-file.js';
import { joinPath } from './paths.js';

export const CONFIGURATION_FILE = 'raft-meta.conf';

/**
 * The configuration of raft-meta.conf; undefined when missing, and, with a warning, when unreadable
 * (spec: storage 3).
 */
export async function readConfigurationFile(
  fs: VirtualFileSystem,
  directory: string,
  logger: Logger,
): Promise<RaftConfiguration | undefined> {
  const path = joinPath(directory, CONFIGURATION_FILE);
  try {
    if (!(await fs.exists(path))) return undefined;
    const entry = parseStoredEntry(await fs.readFile(path));
    if (entry.kind === EntryKind.CONFIGURATION) return configurationOf(entry);
    logger.log('warn', `${path} holds no configuration: ignored`);
  } catch (error) {
    logger.log('warn', `${path} is unreadable: ignored`, { error });
  }
  return undefined;
}

export function writeConfigurationFile(
  fs: VirtualFileSystem,
  directory: string,
  configuration: RaftConfiguration,
  logger: Logger,
): Promise<void> {
  const content = createConfigurationEntry(undefined, configuration).stored;
  return replaceFile(fs, directory, CONFIGURATION_FILE, content, logger);
}
