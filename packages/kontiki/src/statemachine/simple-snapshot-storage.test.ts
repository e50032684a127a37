import assert from 'node:assert/strict';
import { cp, readdir, readFile, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Logger } from '../common/logger.js';
import { StorageCorruptedError } from '../storage/errors.js';
import { parseSnapshotFileName, SimpleSnapshotStorage } from './simple-snapshot-storage.js';
import { temporaryFolder } from './state-machine.test-support.js';

const VECTORS = fileURLToPath(new URL('../../test-data/md5/', import.meta.url));
const DIGEST = '060a6a595ffc9b911ef4c7718919ea8d';
const CONTENT = 'snapshot content 0123456789\n';

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

async function storageWith(t: TestContext, vector: string) {
  const folder = await temporaryFolder(t);
  await cp(join(VECTORS, vector), folder, { recursive: true });
  return { folder, storage: new SimpleSnapshotStorage(folder) };
}

for (const vector of ['good', 'text-mode-path-no-newline']) {
  test(`reads the digest of the vector ${vector}, which Java reads, too`, async (t) => {
    const { storage } = await storageWith(t, vector);
    const latest = await storage.loadLatest();
    assert.deepEqual(latest?.termIndex, { term: 1, index: 2 });
    const [file] = latest.files;
    assert.equal(Buffer.from(file?.digest ?? []).toString('hex'), DIGEST);
    assert.ok(file !== undefined);
    assert.equal(new TextDecoder().decode(await storage.read(file)), CONTENT);
    await storage.verify(file);
  });
}

test('takes a snapshot without an MD5 file as one of unknown digest', async (t) => {
  const { storage } = await storageWith(t, 'missing');
  const latest = await storage.loadLatest();
  assert.equal(latest?.files[0]?.digest, undefined);
  assert.equal(latest?.termIndex.index, 2);
});

for (const vector of ['malformed', 'wrong-name']) {
  test(`skips the snapshot of the vector ${vector} with a warning (quirk 12)`, async (t) => {
    const folder = await temporaryFolder(t);
    await cp(join(VECTORS, vector), folder, { recursive: true });
    const warnings: string[] = [];
    const logger: Logger = {
      isEnabled: () => true,
      log: (level, message) => warnings.push(`${level} ${message}`),
    };
    const storage = new SimpleSnapshotStorage(folder, { logger });
    assert.equal(await storage.loadLatest(), undefined);
    assert.deepEqual(warnings, ['warn skipping snapshot snapshot.1_2: its MD5 file is bad']);
    await writeFile(join(folder, 'snapshot.1_1'), 'older');
    assert.deepEqual((await storage.loadLatest())?.termIndex, { term: 1, index: 1 });
  });
}

test('refuses the content of the vector wrong-digest', async (t) => {
  const { storage } = await storageWith(t, 'wrong-digest');
  const [file] = (await storage.loadLatest())?.files ?? [];
  assert.ok(file !== undefined);
  await assert.rejects(storage.read(file), StorageCorruptedError);
  await assert.rejects(storage.verify(file), /is damaged: its MD5 is not that of its MD5 file/);
});

test('writes a snapshot and its MD5 file as Java does, byte by byte', async (t) => {
  const folder = await temporaryFolder(t);
  const storage = new SimpleSnapshotStorage(folder);
  const saved = await storage.save({ term: 1, index: 2 }, [
    bytes(CONTENT.slice(0, 5)),
    bytes(CONTENT.slice(5)),
  ]);
  assert.deepEqual((await readdir(folder)).sort(), ['snapshot.1_2', 'snapshot.1_2.md5']);
  const good = join(VECTORS, 'good');
  for (const name of ['snapshot.1_2', 'snapshot.1_2.md5']) {
    assert.deepEqual(await readFile(join(folder, name)), await readFile(join(good, name)));
  }
  assert.equal(storage.latest, saved);
});

test('keeps the newest snapshot as the latest when an older one is saved', async (t) => {
  const storage = new SimpleSnapshotStorage(await temporaryFolder(t));
  await storage.save({ term: 2, index: 9 }, [bytes('new')]);
  await storage.save({ term: 1, index: 5 }, [bytes('old')]);
  assert.equal(storage.latest?.termIndex.index, 9);
});

test('prefers the highest index that has an MD5 file to a higher one without', async (t) => {
  const folder = await temporaryFolder(t);
  const storage = new SimpleSnapshotStorage(folder);
  await storage.save({ term: 1, index: 5 }, [bytes('whole')]);
  await writeFile(join(folder, 'snapshot.1_8'), 'perhaps cut short by a crash');
  await writeFile(join(folder, 'snapshot.1_9.tmp'), 'not finished');
  assert.equal((await storage.loadLatest())?.termIndex.index, 5);
});

test('finds nothing in a folder that does not exist', async (t) => {
  const folder = join(await temporaryFolder(t), 'missing');
  assert.equal(await new SimpleSnapshotStorage(folder).loadLatest(), undefined);
});

test('deletes what is behind the newest snapshots with an MD5 file', async (t) => {
  const folder = await temporaryFolder(t);
  const storage = new SimpleSnapshotStorage(folder);
  for (const index of [1, 2, 3, 4]) await storage.save({ term: 1, index }, [bytes('x')]);
  await unlink(join(folder, 'snapshot.1_4.md5'));
  await unlink(join(folder, 'snapshot.1_1'));
  await storage.cleanup(2);
  assert.deepEqual((await readdir(folder)).sort(), [
    'snapshot.1_2',
    'snapshot.1_2.md5',
    'snapshot.1_3',
    'snapshot.1_3.md5',
    'snapshot.1_4',
  ]);
});

test('keeps everything when too few have an MD5 file, and for -1', async (t) => {
  const folder = await temporaryFolder(t);
  const storage = new SimpleSnapshotStorage(folder);
  for (const index of [1, 2]) await storage.save({ term: 1, index }, [bytes('x')]);
  await storage.cleanup(3);
  await storage.cleanup(-1);
  assert.equal((await readdir(folder)).length, 4);
});

test('knows names of snapshots, and no others', () => {
  assert.deepEqual(parseSnapshotFileName('snapshot.12_345'), { term: 12, index: 345 });
  for (const name of ['snapshot.1_2.md5', 'snapshot.1_2.tmp', 'snapshot.1', 'xsnapshot.1_2']) {
    assert.equal(parseSnapshotFileName(name), undefined);
  }
  assert.equal(parseSnapshotFileName('snapshot.1_99999999999999999999'), undefined);
});
