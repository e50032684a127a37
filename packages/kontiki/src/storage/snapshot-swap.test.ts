import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { NULL_LOGGER } from '../common/logger.js';
import { nodeFileSystem } from '../runtime/index.js';
import { CrashingFileSystem } from '../runtime/vfs/crashing-file-system.test-support.js';
import { temporaryFolder } from './log.test-support.js';
import { incomingDirectory, repairSnapshotSwap, swapSnapshot } from './snapshot-swap.js';

const OLD = { 'snapshot.1_5': 'old', 'snapshot.1_5.md5': 'old digest' };
const NEW = { 'snapshot.2_9': 'new', 'snapshot.2_9.md5': 'new digest' };

async function fill(folder: string, files: Record<string, string>): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
}

async function contentOf(folder: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const name of (await readdir(folder)).sort()) {
    found[name] = (await readFile(join(folder, name))).toString();
  }
  return found;
}

function storageAt(root: string) {
  return {
    rootDirectory: root,
    stateMachineDirectory: join(root, 'sm'),
    temporaryDirectory: join(root, 'tmp'),
  };
}

function repair(root: string): Promise<void> {
  const storage = storageAt(root);
  return repairSnapshotSwap({ storage, fs: nodeFileSystem(), logger: NULL_LOGGER });
}

test('a kill at any step of a swap leaves the old snapshot or the new one, whole', async (t) => {
  const root = await temporaryFolder(t);
  const storage = storageAt(root);
  const received = incomingDirectory(storage, 'r1');
  const outcomes: string[] = [];
  for (let crashAt = 1; ; crashAt++) {
    await fill(storage.stateMachineDirectory, OLD);
    await fill(received, NEW);
    const fs = new CrashingFileSystem();
    fs.crashAt = crashAt;
    const swap = swapSnapshot({ storage, fs, logger: NULL_LOGGER }, received);
    const error = await swap.then(
      () => undefined,
      (failure: Error) => failure,
    );
    await repair(root);
    assert.deepEqual((await readdir(root)).sort(), ['sm', 'tmp']);
    assert.deepEqual(await readdir(join(root, 'tmp')), []);
    const content = await contentOf(storage.stateMachineDirectory);
    outcomes.push('snapshot.2_9' in content ? 'new' : 'old');
    assert.deepEqual(content, 'snapshot.2_9' in content ? NEW : OLD);
    // A swap that said it is done is done.
    if (error === undefined) assert.deepEqual(content, NEW);
    if (!fs.hasCrashed) break;
  }
  const firstNew = outcomes.indexOf('new');
  assert.ok(firstNew > 3 && outcomes.slice(firstNew).every((one) => one === 'new'), `${outcomes}`);
});

test('a directory that was moved away and not replaced is put back', async (t) => {
  const root = await temporaryFolder(t);
  await fill(join(root, 'sm.tmp20260102-030405_006'), OLD);
  await repair(root);
  assert.deepEqual(await contentOf(join(root, 'sm')), OLD);
});

test('a complete snapshot does not take the place of a directory that is there', async (t) => {
  const root = await temporaryFolder(t);
  await fill(join(root, 'sm'), OLD);
  await fill(join(root, 'tmp', 'snapshot-x'), NEW);
  await rename(join(root, 'tmp', 'snapshot-x'), join(root, 'sm.installing'));
  await writeFile(join(root, 'tmp', 'snapshot-y.corrupt20260102-030405_006'), 'kept');
  await writeFile(join(root, 'tmp', 'other'), 'not ours');
  await repair(root);
  assert.deepEqual(await contentOf(join(root, 'sm')), OLD);
  assert.deepEqual((await readdir(root)).sort(), ['sm', 'tmp']);
  assert.equal((await readdir(join(root, 'tmp'))).length, 2);
});
