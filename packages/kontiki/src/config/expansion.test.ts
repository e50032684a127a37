// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references look like placeholders
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expandVariables } from './expansion.js';

function expand(
  text: string,
  raw: Record<string, string> = {},
  environment: Record<string, string> = {},
  process: Record<string, string> = {},
): string {
  return expandVariables(text, (key) => raw[key], {
    environmentVariable: (name) => environment[name],
    processProperty: (name) => process[name],
  });
}

test('leaves text without references alone', () => {
  assert.equal(expand('a $b ${} ${c d} ${'), 'a $b ${} ${c d} ${');
});

test('takes the process property before a key of that name', () => {
  assert.equal(expand('${a}', { a: 'key' }, {}, { a: 'process' }), 'process');
  assert.equal(expand('<${a}>', { a: 'key' }), '<key>');
});

test('expands what an expansion brings in, left-most first', () => {
  assert.equal(expand('${a}/${c}', { a: '${b}', b: 'x', c: 'y' }), 'x/y');
});

test('reads environment variables, with text for unset and for empty ones', () => {
  const environment = { SET: 's', EMPTY: '' };
  assert.equal(expand('${env.SET}', {}, environment), 's');
  assert.equal(expand('${env.NONE-d}|${env.EMPTY-d}|${env.SET-d}', {}, environment), 'd||s');
  assert.equal(expand('${env.NONE:-d}|${env.EMPTY:-d}|${env.SET:-d}', {}, environment), 'd|d|s');
});

test('tries a key that is named like an environment reference', () => {
  assert.equal(expand('${env.NONE}', { 'env.NONE': 'key' }), 'key');
});

test('stops at a reference that resolves to nothing and leaves it', () => {
  assert.equal(expand('${a} ${none} ${a2}', { a: 'x', a2: 'y' }), 'x ${none} ${a2}');
});

test('gives the original back when a reference comes up twice', () => {
  assert.equal(expand('${a}', { a: '${b}', b: '${a}' }), '${a}');
});

test('replaces 20 references and refuses a 21st', () => {
  const raw = Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`k${i}`, String(i % 10)]));
  const text = (count: number): string =>
    Array.from({ length: count }, (_, i) => `\${k${i}}`).join('');
  assert.equal(expand(text(20), raw), '01234567890123456789');
  assert.throws(() => expand(text(21), raw), /Variable substitution depth too large/);
});
