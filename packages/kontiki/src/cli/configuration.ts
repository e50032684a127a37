import { readFileSync } from 'node:fs';
import { messageOf } from '../common/errors.js';
import type { Logger } from '../common/logger.js';
import { parseProperties } from '../common/properties.js';
import type { Lookups } from '../config/expansion.js';
import { RaftProperties } from '../config/raft-properties.js';
import { badArgument } from './cli-error.js';
import type { ConsoleIo } from './console-io.js';
import { reasonOf } from './options.js';

const LOOKUPS: Lookups = {
  environmentVariable: (name) => process.env[name],
  processProperty: () => undefined,
};

/** Which value each key has is worth a line for those who look for it only. */
function quieter(logger: Logger): Logger {
  return {
    isEnabled: (level) => logger.isEnabled(level === 'info' ? 'debug' : level),
    log: (level, message, fields) =>
      logger.log(level === 'info' ? 'debug' : level, message, fields),
  };
}

export interface ConfigurationSources {
  readonly conf?: string;
  readonly define: readonly (readonly [string, string])[];
}

function readEntries(file: string): Map<string, string> {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw badArgument(`cannot read --conf ${file}: ${reasonOf(error)}`, error);
  }
  try {
    return parseProperties(text);
  } catch (error) {
    throw badArgument(`--conf ${file}: ${messageOf(error)}`, error);
  }
}

/**
 * The configuration: what the command sets by itself, then the file, then `-D`, the later ones win.
 * Keys that nothing reads are warned of, with the known key that was perhaps meant. Throws CliError
 * or ConfigurationError.
 */
export function loadConfiguration(
  sources: ConfigurationSources,
  own: Readonly<Record<string, string>>,
  io: ConsoleIo,
  logger: Logger,
): RaftProperties {
  const entries = new Map(Object.entries(own));
  const fromFile = sources.conf === undefined ? [] : readEntries(sources.conf);
  for (const [key, value] of [...fromFile, ...sources.define]) entries.set(key.trim(), value);
  const properties = RaftProperties.fromEntries(entries, {
    lookups: LOOKUPS,
    logger: quieter(logger),
  });
  for (const warning of properties.takeWarnings()) io.err.write(`warning: ${warning}\n`);
  return properties;
}
