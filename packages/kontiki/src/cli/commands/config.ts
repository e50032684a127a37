import type { Command } from 'commander';
import { NULL_LOGGER } from '../../common/logger.js';
import { describeConfiguration, type KeyDescription } from '../../config/describe.js';
import { configurationPage } from '../../config/markdown.js';
import { definitionOf, nearestKey } from '../../config/registry.js';
import { checkServerProperties } from '../../config/server-checks.js';
import { badArgument } from '../cli-error.js';
import { type LoadedConfiguration, loadWithOrigins } from '../configuration.js';
import type { ConsoleIo } from '../console-io.js';
import { addConfigurationOptions } from '../options.js';

interface ConfigCommandOptions {
  readonly conf?: string;
  readonly define: readonly (readonly [string, string])[];
  readonly set?: boolean;
  readonly json?: boolean;
  readonly markdown?: boolean;
}

/** `kontiki config`: every key, its value, where that came from, and what it means. */
export function addConfigCommand(program: Command, io: ConsoleIo): void {
  const command = program
    .command('config')
    .description('print the configuration keys: value, where it came from, and what it means')
    .argument('[text...]', 'print only keys with one of these in their name');
  addConfigurationOptions(command)
    .option('--set', 'print only keys that are set')
    .option('--json', 'print JSON')
    .option('--markdown', 'print the reference page of all keys, without values')
    .action((texts: string[], options: ConfigCommandOptions) => printConfig(texts, options, io));
}

function printConfig(texts: readonly string[], options: ConfigCommandOptions, io: ConsoleIo): void {
  if (options.markdown === true) {
    if (options.json === true) throw badArgument('--json and --markdown exclude each other');
    io.out.write(configurationPage());
    return;
  }
  const loaded = loadWithOrigins(options, {}, io, NULL_LOGGER);
  checkServerProperties(loaded.properties);
  const shown = describeConfiguration(loaded.properties)
    .filter(({ key }) => texts.length === 0 || texts.some((text) => key.includes(text)))
    .filter(({ source }) => options.set !== true || source === 'set');
  if (shown.length === 0 && options.set !== true) throw noSuchKey(texts);
  const described = shown.map((one) => ({ ...one, origin: originOf(one, loaded) }));
  if (options.json === true) io.out.write(`${JSON.stringify(described, undefined, 2)}\n`);
  else for (const one of described) io.out.write(textOf(one));
}

function noSuchKey(texts: readonly string[]): Error {
  const nearest = texts.map(nearestKey).find((key) => key !== undefined);
  const hint = nearest === undefined ? '' : `; did you mean ${nearest}?`;
  return badArgument(`no key has ${texts.join(' or ')} in its name${hint}`);
}

/** Where a value came from, as people say it. */
function originOf(
  { key, source, fallbackKey }: KeyDescription,
  loaded: LoadedConfiguration,
): string {
  if (source === 'default') return 'default';
  if (source === 'fallback') return `from ${fallbackKey}`;
  const { alias, aliasOf } = definitionOf(key);
  const names = [aliasOf, key, alias].filter((name) => name !== undefined);
  return names.map((name) => loaded.origins.get(name)).find((one) => one !== undefined) ?? 'set';
}

function textOf(one: KeyDescription & { readonly origin: string }): string {
  const value = one.value === undefined || one.value === '' ? 'not set' : `= ${one.value}`;
  const lines = [`${one.key} ${value}  (${one.origin})`, `    ${one.meaning}`];
  const unset = one.source === 'default' ? '' : `; default: ${one.defaultText ?? 'none'}`;
  lines.push(`    ${one.type}: ${one.range}${unset}`);
  if (one.unusedReason !== undefined) lines.push(`    No effect: ${one.unusedReason}`);
  return `${lines.join('\n')}\n`;
}
