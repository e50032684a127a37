/** The page of errors against the classes of the sources. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listFiles, REPOSITORY } from './lib/files.mjs';

const SOURCES = join(REPOSITORY, 'packages/kontiki/src');
const CLASS = /^(?:export )?(abstract )?class (\w+) extends (\w+)\b[^{]*\{([\s\S]*?)^\}/gm;

/** Code by class name, of every class that descends from KontikiError and is not abstract. */
function errorClasses() {
  const classes = new Map();
  for (const path of listFiles(SOURCES)) {
    if (!path.endsWith('.ts') || /\.(test|test-support)\.ts$/.test(path)) continue;
    for (const [, abstract, name, base, body] of readFileSync(join(SOURCES, path), 'utf8').matchAll(
      CLASS,
    )) {
      classes.set(name, { abstract, base, code: /readonly code = '(\w+)'/.exec(body)?.[1] });
    }
  }
  const isOurs = (name) =>
    name === 'KontikiError' || (name !== undefined && isOurs(classes.get(name)?.base));
  const found = [...classes].filter(
    ([name, { abstract }]) => abstract === undefined && isOurs(name),
  );
  return new Map(found.map(([name, { code }]) => [name, code]));
}

/** Rows of the page by class name. */
function documented() {
  const text = readFileSync(join(REPOSITORY, 'docs/errors.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `(\w+)` \| `(\w+)` \| (.+?) \| (.+?) \|$/gm)];
  return rows.map(([, name, code, meaning, advice]) => ({ name, code, meaning, advice }));
}

const CLASSES = errorClasses();
const ROWS = documented();

test('the page has every error class with its code, once, and no other', () => {
  assert.ok(CLASSES.size > 40, `only ${CLASSES.size} classes were found`);
  const onPage = ROWS.map(({ name, code }) => `${name} ${code}`).sort();
  assert.deepEqual(onPage, [...CLASSES].map(([name, code]) => `${name} ${code}`).sort());
});

test('each code belongs to one class', () => {
  assert.equal(new Set(CLASSES.values()).size, CLASSES.size);
});

test('the page says of each error what it means and what to do', () => {
  for (const { name, meaning, advice } of ROWS) {
    assert.match(meaning, /^[A-Z`].*[.?]$/, name);
    assert.match(advice, /^[A-Z`].*[.?]$/, name);
  }
});
