import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SizeInBytes } from './size-in-bytes.js';

const CASES: readonly [text: string, bytes: number][] = [
  ['64MB', 67_108_864],
  ['64m', 67_108_864],
  ['8 KB', 8192],
  ['200_000', 200_000],
  ['1k', 1024],
  ['1b', 1],
  [' 7 ', 7],
  ['1g', 2 ** 30],
  ['1T', 2 ** 40],
  ['1pb', 2 ** 50],
  ['1E', 2 ** 60],
  ['-1', -1],
];

for (const [text, bytes] of CASES) {
  test(`reads "${text}" as ${bytes} bytes`, () => {
    assert.equal(SizeInBytes.parse(text).sizeBytes, bytes);
  });
}

const BAD: readonly [text: string, message: RegExp][] = [
  ['1x', /Invalid size prefix 'x'/],
  ['8e', /does not fit in a Long/],
  ['9223372036854775808', /does not fit in a Long/],
  ['', /not a size/],
  ['MB', /not a size/],
  ['1.5m', /not a size/],
];

for (const [text, message] of BAD) {
  test(`refuses "${text}" as a size`, () => {
    assert.throws(() => SizeInBytes.parse(text), { code: 'KONTIKI_INVALID_ARGUMENT', message });
  });
}

test('prints the input, and the bytes when they say it differently', () => {
  assert.equal(SizeInBytes.parse('64MB').toString(), '64MB (=67108864)');
  assert.equal(SizeInBytes.parse('10').toString(), '10');
  assert.equal(SizeInBytes.of(1024).toString(), '1024');
});

test('refuses a size that is no whole number', () => {
  assert.throws(() => SizeInBytes.of(1.5), { code: 'KONTIKI_INVALID_ARGUMENT' });
});
