import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidArgumentError } from './errors.js';
import { formatPropertiesEntry, parseProperties } from './properties.js';

function entries(text: string): [string, string][] {
  return [...parseProperties(text)];
}

test('reads what Java writes for raft-meta', () => {
  const text = '#\n#Mon Nov 30 20:42:27 UTC 2026\nvotedFor=n0\nterm=1\n';
  assert.deepEqual(entries(text), [
    ['votedFor', 'n0'],
    ['term', '1'],
  ]);
});

test('accepts CR, LF and CRLF as line ends', () => {
  assert.deepEqual(entries('a=1\rb=2\nc=3\r\nd=4'), [
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
    ['d', '4'],
  ]);
});

test('skips blank lines and comments that start after blanks', () => {
  assert.deepEqual(entries(' \t\n  # no=1\n\t! no=2\na=1'), [['a', '1']]);
});

test('does not continue a comment line', () => {
  assert.deepEqual(entries('# comment \\\na=1'), [['a', '1']]);
});

test('ends a key at the first unescaped separator and drops blanks around it', () => {
  assert.deepEqual(entries('a = 1\nb:2\nc 3\nd\t:\f4\ne==5\nf = = 6'), [
    ['a', '1'],
    ['b', '2'],
    ['c', '3'],
    ['d', '4'],
    ['e', '=5'],
    ['f', '= 6'],
  ]);
});

test('keeps escaped separators in a key', () => {
  assert.deepEqual(entries('a\\ b\\=c\\:d=1'), [['a b=c:d', '1']]);
});

test('reads a key without a value as empty text', () => {
  assert.deepEqual(entries('votedFor=\nterm'), [
    ['votedFor', ''],
    ['term', ''],
  ]);
});

test('keeps trailing blanks of a value', () => {
  assert.deepEqual(entries('a=1 \t'), [['a', '1 \t']]);
});

test('continues a line after an odd count of backslashes and drops leading blanks', () => {
  assert.deepEqual(entries('a=1\\\n   2\\\r\n\t#3\nb=4\\\\\nc=5'), [
    ['a', '12#3'],
    ['b', '4\\'],
    ['c', '5'],
  ]);
});

test('drops a backslash at the end of the text', () => {
  assert.deepEqual(entries('a=1\\'), [['a', '1']]);
});

test('decodes escapes, and an unknown one as its character', () => {
  assert.deepEqual(entries('a=\\t\\n\\r\\f\\q\\\\\\u00e9\\u0041'), [['a', '\t\n\r\fq\\éA']]);
});

test('takes the last of equal keys', () => {
  assert.deepEqual(entries('term=1\nterm=2'), [['term', '2']]);
});

test('refuses a malformed unicode escape', () => {
  assert.throws(() => parseProperties('a=\\u12g4'), InvalidArgumentError);
});

test('escapes only a leading space in a value and every space in a key', () => {
  assert.equal(formatPropertiesEntry('a b', '  c d'), 'a\\ b=\\  c d');
});

test('escapes separators, comment marks, controls and backslashes', () => {
  assert.equal(formatPropertiesEntry('k', '=:#!\\\t\n\r\f'), 'k=\\=\\:\\#\\!\\\\\\t\\n\\r\\f');
});

test('writes other characters raw', () => {
  assert.equal(formatPropertiesEntry('votedFor', 'né'), 'votedFor=né');
});

test('reads back every entry that it writes', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.string(), (key, value) => {
      assert.deepEqual(entries(`${formatPropertiesEntry(key, value)}\n`), [[key, value]]);
    }),
  );
});
