import assert from 'node:assert/strict';
import { test } from 'node:test';
import { UNUSED_KEYS } from './keys/unused-keys.js';
import { configurationPage, unusedKeysTable } from './markdown.js';
import { KEY_NAMES } from './registry.js';

const LINES = configurationPage().split('\n');

function lineOf(key: string): string {
  const lines = LINES.filter((line) => line.startsWith(`| \`${key}\` |`));
  assert.equal(lines.length, 1, key);
  return lines[0] ?? '';
}

test('the page has one row for each key, with five cells', () => {
  for (const key of KEY_NAMES) {
    assert.equal(lineOf(key).split(/(?<!\\)\|/).length, 7, lineOf(key));
  }
});

test('the page shows defaults, those of Ratis where they differ, and keys that stand in', () => {
  assert.match(lineOf('raft.server.rpc.timeout.min'), /\| duration \| `150ms` \|/);
  assert.match(lineOf('raft.server.read.option'), /\| `LINEARIZABLE` \(Ratis: `DEFAULT`\) \|/);
  assert.match(
    lineOf('raft.server.staging.timeout'),
    /\| 3 times `raft.server.rpc.timeout.max` \|/,
  );
  assert.match(lineOf('raft.grpc.server.host'), /\| not set \|/);
});

test('the page and the table give the reason of each key without effect', () => {
  const table = unusedKeysTable();
  for (const [key, reason] of UNUSED_KEYS) {
    assert.ok(lineOf(key).includes(`**No effect:** ${reason}`), key);
    assert.ok(table.includes(`\`${key}\``), key);
  }
  assert.doesNotMatch(lineOf('raft.server.rpc.timeout.min'), /No effect/);
});
