import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { NULL_LOGGER } from '../common/logger.js';
import type { FileChunk } from '../protocol/server-messages.js';
import { nodeFileSystem } from '../runtime/index.js';
import { IncomingSnapshot } from './incoming-snapshot.js';
import { temporaryFolder } from './log.test-support.js';

const REFUSED = { code: 'KONTIKI_SNAPSHOT_TRANSFER' };
const NONE = new Uint8Array(0);

function digestOf(...parts: Uint8Array[]): Uint8Array {
  const hash = createHash('md5');
  for (const part of parts) hash.update(part);
  return new Uint8Array(hash.digest());
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function piece(
  filename: string,
  offsetBytes: number,
  data: Uint8Array,
  digest: Uint8Array = NONE,
): FileChunk {
  const done = digest.length > 0;
  return {
    filename,
    totalSizeBytes: 0,
    fileDigest: digest,
    chunkIndex: 0,
    offsetBytes,
    data,
    done,
  };
}

async function incomingIn(t: TestContext): Promise<IncomingSnapshot> {
  return IncomingSnapshot.create({
    directory: join(await temporaryFolder(t), 'snapshot-r1'),
    fs: nodeFileSystem(),
    logger: NULL_LOGGER,
    wallTimeMs: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6),
  });
}

test('files arrive in pieces, in folders, and empty; each gets its MD5 beside it', async (t) => {
  const incoming = await incomingIn(t);
  const [a, b] = [bytes('one'), bytes('two')];
  await incoming.write(piece('sm/snapshot.1_5', 0, a));
  await incoming.write(piece('sm/snapshot.1_5', 3, b, digestOf(a, b)));
  await incoming.write(piece('sm/more/deep/empty', 0, NONE, digestOf()));
  await incoming.complete();
  const at = (...parts: string[]) => readFile(join(incoming.directory, ...parts), 'utf8');
  assert.equal(await at('snapshot.1_5'), 'onetwo');
  assert.equal(await at('more', 'deep', 'empty'), '');
  const hex = Buffer.from(digestOf(a, b)).toString('hex');
  assert.equal(await at('snapshot.1_5.md5'), `${hex} *snapshot.1_5\n`);
});

test('offset 0 starts a file over', async (t) => {
  const incoming = await incomingIn(t);
  await incoming.write(piece('sm/a', 0, bytes('wrong and long')));
  await incoming.write(piece('sm/a', 0, bytes('right'), digestOf(bytes('right'))));
  assert.equal(await readFile(join(incoming.directory, 'a'), 'utf8'), 'right');
});

test('a file with another MD5, or without one, is set aside', async (t) => {
  const incoming = await incomingIn(t);
  await assert.rejects(incoming.write(piece('sm/a', 0, bytes('x'), digestOf())), REFUSED);
  const short = { ...piece('sm/b', 0, bytes('y')), done: true };
  await assert.rejects(incoming.write(short), REFUSED);
  await incoming.abandon();
  // Only the last one is kept.
  assert.deepEqual(await readdir(join(incoming.directory, '..')), [
    'snapshot-r1.corrupt20260102-030405_006',
  ]);
});

test('pieces out of order are refused', async (t) => {
  const incoming = await incomingIn(t);
  await assert.rejects(incoming.write(piece('sm/a', 5, bytes('x'))), REFUSED);
  await incoming.write(piece('sm/a', 0, bytes('abc')));
  await assert.rejects(incoming.write(piece('sm/a', 2, bytes('x'))), REFUSED);
  await assert.rejects(incoming.write(piece('sm/b', 0, bytes('x'))), REFUSED);
  await assert.rejects(incoming.complete(), REFUSED);
  await incoming.abandon();
});

test('names that lead out of the directory are refused', async (t) => {
  const incoming = await incomingIn(t);
  const names = ['a', 'sm/', 'sm/../a', '/sm/a', 'sm//a', 'sm/./a', 'current/raft-meta', 'sm/a\\b'];
  for (const name of names) {
    await assert.rejects(incoming.write(piece(name, 0, bytes('x'))), REFUSED, name);
  }
});
