import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { runScript } from './scenario/script.test-support.js';

/** Upward to the package, because the compiled tests may lie in any folder of it. */
function packageRoot(from: string): string {
  try {
    const manifest = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8')) as {
      name: string;
    };
    if (manifest.name === 'kontiki') return from;
  } catch (error) {
    if (dirname(from) === from) throw error;
  }
  return packageRoot(dirname(from));
}

const folder = join(packageRoot(dirname(fileURLToPath(import.meta.url))), 'src/core/testdata');
const files = readdirSync(folder).filter((name) => name.endsWith('.txt'));

for (const name of files) {
  const path = join(folder, name);
  const text = readFileSync(path, 'utf8');
  const title = text.split('\n')[0]?.replace(/^#\s*/, '') ?? name;
  test(`${name}: ${title}`, () => {
    const actual = runScript(text);
    // KONTIKI_REWRITE=1 writes the traces anew, to be reviewed as a difference.
    if (process.env['KONTIKI_REWRITE'] === '1') writeFileSync(path, actual);
    else assert.equal(actual, text);
  });
}

test('there are scenarios', () => {
  assert.ok(files.length >= 15);
});
