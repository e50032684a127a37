import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { UNUSED_KEYS } from './keys/unused-keys.js';
import { definitionOf, isKeyName, KEY_NAMES } from './registry.js';

const SOURCES = fileURLToPath(new URL('../../src', import.meta.url));
const NOT_COUNTED = /^(config|testing)[\\/]|\.test\.ts$|\.test-support\.ts$|\.d\.ts$/;
const READ = /\bget(?:WithSource)?\(\s*'([^']+)'/g;

const FIELD = /^ {4}(\w+): (?:\w+\()?(?:properties\.)?get\(/gm;
/** Where values of keys become fields, and where such fields are declared. */
const DECLARING = /[\\/](server-config|client-options|types|transport)\.ts$/;

/** Text of the sources by name, apart from the registry, the test kit and the tests. */
const TEXTS = new Map(
  readdirSync(SOURCES, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !NOT_COUNTED.test(name))
    .map((name) => [name, readFileSync(join(SOURCES, name), 'utf8')]),
);

/** Keys that the sources read as values. */
function keysRead(): Set<string> {
  const read = new Set<string>();
  for (const text of TEXTS.values()) {
    for (const [, key] of text.matchAll(READ)) if (key !== undefined) read.add(key);
  }
  return read;
}

const READ_KEYS = keysRead();

test('finds where keys are read', () => {
  assert.ok(READ_KEYS.has('raft.server.rpc.timeout.min'));
  assert.ok(READ_KEYS.has('raft.client.rpc.request.timeout'));
});

for (const key of KEY_NAMES) {
  test(`${key} is read, or listed with the reason why it is not`, () => {
    const isRead = READ_KEYS.has(definitionOf(key).aliasOf ?? key);
    const message = isRead
      ? 'is read: take it out of keys/unused-keys.ts'
      : 'is not read: list it in keys/unused-keys.ts with the reason';
    assert.notEqual(isRead, UNUSED_KEYS.has(key), `${key} ${message}`);
  });
}

test('lists known keys only, each reason a sentence', () => {
  for (const [key, reason] of UNUSED_KEYS) {
    assert.ok(isKeyName(key), key);
    assert.match(reason, /^[A-Z].*\.$/, key);
  }
});

test('every field that a key is read into is used', () => {
  const declaring = [...TEXTS].filter(([name]) => DECLARING.test(name));
  const using = [...TEXTS].filter(([name]) => !DECLARING.test(name)).map(([, text]) => text);
  const fields = declaring.flatMap(([, text]) => [...text.matchAll(FIELD)].map(([, name]) => name));
  assert.ok(fields.length > 60, `only ${fields.length} fields were found`);
  const unused = fields.filter((field) => {
    const use = new RegExp(`\\b${field}\\b`);
    return !using.some((text) => use.test(text));
  });
  assert.deepEqual(unused, []);
});
