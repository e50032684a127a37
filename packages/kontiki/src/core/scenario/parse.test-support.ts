import { EntryKind } from '../../proto/wire/types.js';
import { createConfiguration, type RaftConfiguration } from '../../protocol/configuration.js';
import { createPeer, type RaftPeer } from '../../protocol/peer.js';
import type { TermIndex } from '../../protocol/term-index.js';
import type { SimEntry } from './disk.test-support.js';

/** One line of a script: words, and `key=value` pairs. */
export interface ScriptLine {
  readonly name: string;
  readonly words: readonly string[];
  readonly pairs: ReadonlyMap<string, string>;
}

export function parseLine(line: string): ScriptLine {
  const [name = '', ...rest] = line.split(/\s+/).filter(Boolean);
  const words = rest.filter((word) => !word.includes('='));
  const pairs = new Map<string, string>();
  for (const word of rest) {
    const at = word.indexOf('=');
    if (at > 0) pairs.set(word.slice(0, at), word.slice(at + 1));
  }
  return { name, words, pairs };
}

export function peersOf(ids: string, priorities: ReadonlyMap<string, number>): RaftPeer[] {
  return ids
    .split(',')
    .filter(Boolean)
    .map((id) => createPeer({ id, address: `${id}:1`, priority: priorities.get(id) ?? 0 }));
}

/** `t2:5`, or `none`. */
export function parsePosition(text: string | undefined): TermIndex | undefined {
  const match = /^t(\d+):(-?\d+)$/.exec(text ?? '');
  return match === null ? undefined : { term: Number(match[1]), index: Number(match[2]) };
}

/**
 * Entries of consecutive indices by their terms: `t1,t1,t2`. A configuration: `t1/conf:n1+n2` or,
 * joint, `t1/conf:n2+n3/old:n1+n2`; metadata: `t1/meta:4`. `payload` marks the others, so that
 * entries of different leaders differ.
 */
export function parseEntries(
  text: string,
  firstIndex: number,
  priorities: ReadonlyMap<string, number>,
): SimEntry[] {
  return text
    .split(',')
    .filter(Boolean)
    .map((item, i) => {
      const [head = '', ...parts] = item.split('/');
      const fields = new Map(parts.map((part) => part.split(':') as [string, string]));
      const base = { term: Number(head.slice(1)), index: firstIndex + i, payload: item };
      const conf = fields.get('conf');
      if (conf !== undefined) {
        const configuration = configurationOf(conf, fields, base.index, priorities);
        return { ...base, kind: EntryKind.CONFIGURATION, configuration };
      }
      const meta = fields.get('meta');
      if (meta === undefined) return { ...base, kind: EntryKind.STATE_MACHINE };
      return { ...base, kind: EntryKind.METADATA, metadataCommitIndex: Number(meta) };
    });
}

function configurationOf(
  conf: string,
  fields: ReadonlyMap<string, string>,
  index: number,
  priorities: ReadonlyMap<string, number>,
): RaftConfiguration {
  const list = (text: string | undefined): RaftPeer[] =>
    peersOf((text ?? '').replaceAll('+', ','), priorities);
  const cur = { voters: list(conf), listeners: list(fields.get('listeners')) };
  const old = fields.get('old');
  const oldSide = old === undefined ? undefined : { voters: list(old), listeners: [] };
  return createConfiguration(cur, oldSide, index);
}
