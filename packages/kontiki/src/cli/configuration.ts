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
  return loadWithOrigins(sources, own, io, logger).properties;
}

export interface LoadedConfiguration {
  readonly properties: RaftProperties;
  /** Where each key that is set comes from: the name of the file, `-D`, or `kontiki`. */
  readonly origins: ReadonlyMap<string, string>;
}

/** As `loadConfiguration`, with where each value comes from. */
export function loadWithOrigins(
  sources: ConfigurationSources,
  own: Readonly<Record<string, string>>,
  io: ConsoleIo,
  logger: Logger,
): LoadedConfiguration {
  const entries = new Map<string, string>();
  const origins = new Map<string, string>();
  const take = (pairs: Iterable<readonly [string, string]>, origin: string) => {
    for (const [key, value] of pairs) {
      entries.set(key.trim(), value);
      origins.set(key.trim(), origin);
    }
  };
  take(Object.entries(own), 'kontiki');
  if (sources.conf !== undefined) take(readEntries(sources.conf), sources.conf);
  take(sources.define, '-D');
  const properties = RaftProperties.fromEntries(entries, {
    lookups: LOOKUPS,
    logger: quieter(logger),
  });
  for (const warning of properties.takeWarnings()) io.err.write(`warning: ${warning}\n`);
  return { properties, origins };
}
