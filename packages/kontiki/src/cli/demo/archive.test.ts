import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createArchive } from './archive.js';

const encoder = new TextEncoder();

test('writes an archive that tar lists and extracts', (t) => {
  const long = `${'folder/'.repeat(20)}file.txt`;
  const archive = createArchive([
    { name: 'a.txt', content: encoder.encode('hello') },
    { name: long, content: new Uint8Array(1000) },
    { name: 'n'.repeat(300), content: new Uint8Array(1) },
  ]);
  assert.equal(archive.length % 512, 0);
  const listed = spawnSync('tar', ['-tf', '-'], { input: archive, encoding: 'utf8' });
  if (listed.error !== undefined) {
    t.skip('there is no tar on this machine');
    return;
  }
  assert.equal(listed.stdout, `a.txt\n${long}\n`);
  const content = spawnSync('tar', ['-xOf', '-', 'a.txt'], { input: archive, encoding: 'utf8' });
  assert.equal(content.stdout, 'hello');
});
