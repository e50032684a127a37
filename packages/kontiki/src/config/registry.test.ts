import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { KeyType } from './key-definition.js';
import { PARAMETER_KEYS } from './keys/parameter-keys.js';
import { definitionOf, isKeyName, KEY_NAMES, nearestKey } from './registry.js';

interface Row {
  readonly key: string;
  readonly type: string;
  readonly defaultText: string;
  readonly range: string;
}

const TABLE = new URL('../../test-data/config-keys.tsv', import.meta.url);
const ROWS: readonly Row[] = readFileSync(TABLE, 'utf8')
  .trimEnd()
  .split('\n')
  .slice(1)
  .map((line) => {
    const [key = '', type = '', defaultText = '', range = ''] = line.split('\t');
    return { key, type, defaultText, range };
  });
const TEXT_ROWS = ROWS.filter(({ type }) => !type.startsWith('Parameter'));
const PARAMETER_ROWS = ROWS.filter(({ type }) => type.startsWith('Parameter'));

const TYPES: Readonly<Record<string, readonly KeyType[]>> = {
  TimeDuration: ['duration'],
  SizeInBytes: ['size'],
  int: ['int'],
  long: ['long'],
  double: ['double'],
  boolean: ['boolean'],
  enum: ['enumeration'],
  string: ['text'],
  'string (retry policy)': ['retryPolicy'],
  'RpcType (string)': ['text'],
  'DataStreamType (string)': ['enumeration'],
  path: ['path'],
  'list of paths': ['paths', 'list'],
  'list of host:port': ['list'],
  'list of int': ['list'],
  'list of TimeDuration': ['list'],
  'class name': ['text'],
};

/** What the table's text of a default says; undefined when the key is unset by default. */
function tableDefault(text: string): string | undefined {
  if (/^(unset|none|all 0|max\()/.test(text)) return undefined;
  return text.replace(/; falls back.*$/, '').replace(/ \(.*\)$/, '');
}

test('knows every key of the table and no other', () => {
  assert.deepEqual([...KEY_NAMES].sort(), TEXT_ROWS.map(({ key }) => key).sort());
  assert.deepEqual(Object.keys(PARAMETER_KEYS).sort(), PARAMETER_ROWS.map(({ key }) => key).sort());
});

for (const { key, type, defaultText, range } of TEXT_ROWS) {
  test(`${key} has the type, default and limits of the table`, () => {
    assert.ok(isKeyName(key));
    const definition = definitionOf(key);
    assert.ok(TYPES[type]?.includes(definition.type), `${type} is not ${definition.type}`);
    const ours = definition.ratisDefaultText ?? definition.defaultText;
    assert.equal(ours === '' ? undefined : ours, tableDefault(defaultText));
    if (definition.defaultText !== undefined) definition.parse(definition.defaultText, key);
    if (definition.type === 'duration' || definition.type === 'size') {
      assert.throws(() => definition.parse('-1', key), { code: 'KONTIKI_CONFIG_INVALID' });
    }
    if (definition.type !== 'int' && definition.type !== 'long') return;
    const [, min] = /^(?:>= )?(-?\d+)(?:\.\.|\b)/.exec(range) ?? [];
    const [, max] = /^-?\d+\.\.(\d+)/.exec(range) ?? [];
    for (const [limit, beyond] of [
      [min, -1],
      [max, 1],
    ] as const) {
      if (limit === undefined) continue;
      assert.doesNotThrow(() => definition.parse(limit, key));
      assert.throws(() => definition.parse(String(Number(limit) + beyond), key), {
        code: 'KONTIKI_CONFIG_INVALID',
        key,
      });
    }
  });
}

test('differs from the defaults of the table in three keys only', () => {
  const differing = KEY_NAMES.filter((key) => definitionOf(key).ratisDefaultText !== undefined);
  assert.deepEqual(
    differing.map((key) => [key, definitionOf(key).defaultText]),
    [
      ['raft.server.read.option', 'LINEARIZABLE'],
      ['raft.server.log.append-entries.compose.enabled', 'false'],
      ['raft.server.log.appender.wait-time.min', '0ms'],
    ],
  );
});

test('says of every key what it means and which part reads it', () => {
  for (const key of KEY_NAMES) {
    const { meaning, component, range } = definitionOf(key);
    assert.match(meaning, /^[A-Z].*\.$/, key);
    assert.notEqual(component, '', key);
    assert.notEqual(range, '', key);
  }
});

test('points fallbacks and aliases at known keys', () => {
  for (const key of KEY_NAMES) {
    const { fallback, alias, aliasOf } = definitionOf(key);
    for (const other of [fallback?.key, alias, aliasOf]) {
      assert.ok(other === undefined || isKeyName(other), `${key} points at ${other}`);
    }
  }
});

test('finds the key that was meant', () => {
  assert.equal(nearestKey('raft.server.rpc.timout.min'), 'raft.server.rpc.timeout.min');
  assert.equal(nearestKey('raft.grpc.tls.config'), 'raft.grpc.tls.conf');
});

test('finds no key for a name that looks like none', () => {
  assert.equal(nearestKey('zookeeper.ticks'), undefined);
});
