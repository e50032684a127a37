/** The build leaves no output of deleted sources, and a test run that finds nothing fails. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { cleanStale } from './clean-stale.mjs';
import { REPOSITORY } from './lib/files.mjs';

/** A package with these (empty) files. */
function makePackage(t, files) {
  const home = mkdtempSync(join(tmpdir(), 'kontiki-build-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  for (const path of files) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), '');
  }
  return home;
}

test('output whose source is gone is deleted, with the empty folder', (t) => {
  const home = makePackage(t, ['src/a.ts', 'dist/gone/b.test.js', 'dist/gone/b.test.d.ts']);
  assert.equal(cleanStale(home), 2);
  assert.equal(existsSync(join(home, 'dist/gone')), false);
});

test('output and assets that have a source stay, and so do the notes of the compiler', (t) => {
  const kept = ['dist/a.js', 'dist/a.js.map', 'dist/a.d.ts', 'dist/c.txt', 'dist/.tsbuildinfo'];
  const home = makePackage(t, ['src/a.ts', 'src/c.txt', ...kept]);
  assert.equal(cleanStale(home), 0);
  for (const path of kept) {
    assert.equal(existsSync(join(home, path)), true, path);
  }
});

test('a test run whose filter matches no file fails', () => {
  const script = join(REPOSITORY, 'scripts/test.mjs');
  const result = spawnSync(process.execPath, [script, 'no-such-file'], { encoding: 'utf8' });
  assert.equal(result.status, 1);
  assert.match(result.stderr, /no test file found/);
});
