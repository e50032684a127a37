import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { systemCodeOf } from './errors.js';
import { nodeFileSystem } from './node-file-system.js';

const fs = nodeFileSystem();

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kontiki-fs-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

const bytes = (text: string) => new TextEncoder().encode(text);

test('buffers are written in order at a position, however many they are', async (t) => {
  const path = join(await folderOf(t), 'file');
  const file = await fs.open(path, 'wx+');
  await file.writev([bytes('ab')], 0);
  const many = Array.from({ length: 3000 }, (_, i) => bytes(String(i % 10)));
  await file.writev(many, 2);
  await file.writev([], 7);
  await file.datasync();
  await file.sync();
  assert.equal(await file.size(), 3002);
  const buffer = new Uint8Array(8);
  assert.equal(await file.read(buffer, 0), 8);
  assert.deepEqual(buffer, bytes('ab012345'));
  assert.equal(await file.read(buffer, 3000), 2);
  assert.equal(await file.read(buffer, 5000), 0);
  await file.close();
  await assert.rejects(fs.open(path, 'wx+'), (error) => systemCodeOf(error) === 'EEXIST');
});

test('allocate extends with zeros at the end, truncate cuts', async (t) => {
  const path = join(await folderOf(t), 'file');
  const file = await fs.open(path, 'wx+');
  await file.writev([bytes('abc')], 0);
  await file.allocate((1 << 20) + 5000);
  assert.equal(await file.size(), (1 << 20) + 5000);
  await file.allocate(10);
  assert.equal(await file.size(), (1 << 20) + 5000);
  await file.truncate(5);
  await file.close();
  assert.deepEqual(new Uint8Array(await readFile(path)), Uint8Array.of(97, 98, 99, 0, 0));
});

test('directories are made, listed, measured and removed', async (t) => {
  const folder = await folderOf(t);
  await fs.mkdir(join(folder, 'a', 'b'), { recursive: true });
  await writeFile(join(folder, 'a', 'f'), 'xyz');
  const found = await fs.list(join(folder, 'a'));
  assert.deepEqual(
    found.sort((x, y) => x.name.localeCompare(y.name)),
    [
      { name: 'b', isDirectory: true },
      { name: 'f', isDirectory: false },
    ],
  );
  assert.deepEqual(await fs.stat(join(folder, 'a', 'f')), { sizeBytes: 3, isDirectory: false });
  await fs.rename(join(folder, 'a', 'f'), join(folder, 'g'));
  await fs.syncDirectory(folder);
  assert.equal(await fs.exists(join(folder, 'a', 'f')), false);
  assert.equal(await fs.exists(join(folder, 'g', 'below')), false);
  assert.ok((await fs.freeBytes(folder)) > 0);
  assert.equal(await fs.isWritable(folder), true);
  assert.equal(await fs.isWritable(join(folder, 'missing')), false);
  await fs.removeTree(join(folder, 'a'));
  assert.equal(await fs.exists(join(folder, 'a')), false);
});

test('a full disk is told as ENOSPC', async (t) => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return t.skip('needs root on Linux');
  const folder = join(await folderOf(t), 'mount');
  await mkdir(folder);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=64k', 'tmpfs', folder]);
  if (mounted.status !== 0) return t.skip('tmpfs cannot be mounted here');
  try {
    const file = await fs.open(join(folder, 'file'), 'w');
    const writing = file.writev([new Uint8Array(40_000), new Uint8Array(40_000)], 0);
    await assert.rejects(writing, (error) => systemCodeOf(error) === 'ENOSPC');
    await file.close();
  } finally {
    spawnSync('umount', [folder]);
  }
});
