import { readFileSync } from 'node:fs';
import { type Command, InvalidArgumentError as InvalidOption, Option } from 'commander';
import { messageOf } from '../common/errors.js';
import { LOG_LEVELS, type Logger, type LogLevel } from '../common/logger.js';
import { RaftGroupId } from '../protocol/ids.js';
import type { RaftPeer } from '../protocol/peer.js';
import { parsePeers } from '../protocol/peer-syntax.js';
import type { TlsOptions } from '../rpc/transport.js';
import { createConsoleLogger } from '../runtime/node-logger.js';
import { systemCodeOf } from '../runtime/vfs/errors.js';
import { badArgument } from './cli-error.js';
import type { ConsoleIo } from './console-io.js';

/** Options that servers and clients share, as they were typed. */
export interface CommonOptions {
  readonly peers: readonly RaftPeer[];
  readonly tlsCa?: string;
  readonly tlsCert?: string;
  readonly tlsKey?: string;
  readonly conf?: string;
  readonly define: readonly (readonly [string, string])[];
  readonly logLevel: LogLevel;
}

/** Makes an option's text a value; the parser names option and text in front of the message. */
export function parsedBy<T>(parse: (text: string) => T): (text: string) => T {
  return (text) => {
    try {
      return parse(text);
    } catch (error) {
      throw new InvalidOption(messageOf(error));
    }
  };
}

/** A whole number of at least `min`. */
export function integerFrom(min: number): (text: string) => number {
  return (text) => {
    const value = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (!Number.isSafeInteger(value) || value < min) {
      throw new InvalidOption(`It must be a whole number of at least ${min}.`);
    }
    return value;
  };
}

/** Collects a repeatable option. */
export function collect<T>(parse: (text: string) => T): (text: string, previous?: T[]) => T[] {
  return (text, previous = []) => [...previous, parse(text)];
}

function parseDefinition(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new InvalidOption('It must have the form key=value.');
  return [text.slice(0, at).trim(), text.slice(at + 1)];
}

export const parseGroupId = parsedBy((text) => RaftGroupId.parse(text));

/** Adds the options that servers and clients share. */
export function addCommonOptions(command: Command, defaultLevel: LogLevel): Command {
  command
    .addOption(
      new Option(
        '-r, --peers <list>',
        'the members, separated by commas: ' +
          'name:host:port[:dataStreamPort[:clientPort[:adminPort]]]',
      )
        .argParser(parsedBy(parsePeers))
        .makeOptionMandatory(),
    )
    .option('--tls-ca <file>', 'certificates (PEM) that the other end must be signed by')
    .option('--tls-cert <file>', 'our certificate (PEM)')
    .option('--tls-key <file>', 'key (PEM) of our certificate');
  return addConfigurationOptions(command).addOption(
    new Option('--log-level <level>', 'lowest level that is logged, on stderr')
      .choices([...LOG_LEVELS])
      .default(defaultLevel),
  );
}

/** Adds the options that give a configuration. */
export function addConfigurationOptions(command: Command): Command {
  return command
    .option('--conf <file>', 'configuration, key=value lines')
    .addOption(
      new Option('-D, --define <key=value>', 'sets a configuration key; repeatable')
        .argParser(collect(parseDefinition))
        .default([], 'none'),
    );
}

function readPem(option: string, file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw badArgument(`cannot read ${option} ${file}: ${reasonOf(error)}`, error);
  }
}

/** What a failed file operation means, without the path that the message names already. */
export function reasonOf(error: unknown): string {
  const reasons: Readonly<Record<string, string>> = {
    ENOENT: 'no such file',
    EACCES: 'permission denied',
    EISDIR: 'is a directory',
  };
  return reasons[systemCodeOf(error) ?? ''] ?? messageOf(error);
}

/**
 * TLS as the options say: mutual when there are certificate and key; undefined is plain text.
 * Throws CliError.
 */
export function tlsOf(options: CommonOptions): TlsOptions | undefined {
  const { tlsCa, tlsCert, tlsKey } = options;
  if (tlsCa === undefined && tlsCert === undefined && tlsKey === undefined) return undefined;
  if ((tlsCert === undefined) !== (tlsKey === undefined)) {
    throw badArgument('--tls-cert and --tls-key must be given together');
  }
  return {
    ...(tlsCa === undefined ? {} : { trustCertificates: readPem('--tls-ca', tlsCa) }),
    ...(tlsCert === undefined ? {} : { certificateChain: readPem('--tls-cert', tlsCert) }),
    ...(tlsKey === undefined ? {} : { privateKey: readPem('--tls-key', tlsKey) }),
    mutual: tlsCa !== undefined && tlsCert !== undefined,
  };
}

export function loggerOf(options: CommonOptions, io: ConsoleIo): Logger {
  return createConsoleLogger({ level: options.logLevel, stream: io.err });
}
