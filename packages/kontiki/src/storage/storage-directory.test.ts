import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { NULL_LOGGER } from '../common/logger.js';
import type { Timer } from '../common/runtime.js';
import { createConfiguration, sameConfiguration } from '../protocol/configuration.js';
import { createPeer } from '../protocol/peer.js';
import { nodeFileSystem, nodeRuntime } from '../runtime/index.js';
import {
  NoSpaceError,
  StorageCorruptedError,
  StorageExistsError,
  StorageLockedError,
  StorageNotFormattedError,
  StorageUnavailableError,
  StorageVolumeError,
} from './errors.js';
import { temporaryFolder } from './log.test-support.js';
import { discoverGroups, openStorage, removeGroupStorage } from './storage-directory.js';
import type { OpenStorageOptions, RaftStorage } from './types.js';

const GROUP = '02511d47-d67c-49a3-9011-abb3109a44c1';
const fs = nodeFileSystem();
const real = nodeRuntime();
/** Timers fire at once: nobody waits a second between attempts to lock. */
const runtime = {
  ...real,
  timers: {
    ...real.timers,
    schedule: (_delayMs: number, callback: () => void): Timer => real.timers.schedule(0, callback),
  },
};
const context = { fs, runtime, logger: NULL_LOGGER };

function open(volumes: string[], options: Partial<OpenStorageOptions> = {}): Promise<RaftStorage> {
  return openStorage({
    volumes,
    groupUuid: GROUP,
    startupOption: 'RECOVER',
    freeSpaceMinBytes: 0,
    ...options,
    ...context,
  });
}

test('a new root is formatted: raft-meta, an empty sm, a lock (spec: storage 1.2)', async (t) => {
  const volume = join(await temporaryFolder(t), 'not', 'yet');
  const storage = await open([volume], { startupOption: 'FORMAT' });
  assert.equal(storage.rootDirectory, join(volume, GROUP));
  assert.deepEqual((await readdir(storage.rootDirectory)).sort(), ['current', 'in_use.lock', 'sm']);
  assert.deepEqual(await readdir(storage.currentDirectory), ['raft-meta']);
  assert.deepEqual(storage.metadata, { term: 0, votedFor: undefined });
  assert.equal(await storage.isHealthy(), true);
  await storage.close();
  await storage.close();
});

test('term, vote and configuration are there after a restart', async (t) => {
  const volume = await temporaryFolder(t);
  const first = await open([volume]);
  await first.persistMetadata({ term: 7, votedFor: 'a:b=c #d!e\\f' });
  const peers = ['n0', 'n1'].map((id) => createPeer({ id, address: `${id}:1` }));
  const configuration = createConfiguration({ voters: peers, listeners: [] }, undefined, 12);
  await first.persistConfiguration(configuration);
  await first.close();
  const second = await open([volume]);
  assert.deepEqual(second.metadata, { term: 7, votedFor: 'a:b=c #d!e\\f' });
  const found = await second.readConfiguration();
  assert.ok(found !== undefined && sameConfiguration(found, configuration));
  await second.persistMetadata({ term: 8, votedFor: undefined });
  await second.close();
  const text = await readFile(join(second.currentDirectory, 'raft-meta'), 'utf8');
  assert.match(text, /^#\n#\w{3} \w{3} \d\d \d\d:\d\d:\d\d UTC \d{4}\nvotedFor=\nterm=8\n$/);
});

test('the same metadata again is not written, and writes keep their order', async (t) => {
  const storage = await open([await temporaryFolder(t)]);
  const path = join(storage.currentDirectory, 'raft-meta');
  const writes: Promise<void>[] = [];
  for (let term = 1; term <= 20; term++) {
    writes.push(storage.persistMetadata({ term, votedFor: `n${term}` }));
  }
  await Promise.all(writes);
  assert.match(await readFile(path, 'utf8'), /votedFor=n20\nterm=20\n/);
  const { ino } = await stat(path);
  await storage.persistMetadata({ term: 20, votedFor: 'n20' });
  assert.equal((await stat(path)).ino, ino);
  await storage.close();
  await assert.rejects(storage.persistMetadata({ term: 21, votedFor: undefined }));
});

test('a second opener is told who holds the lock (spec: storage 1.6)', async (t) => {
  const volume = await temporaryFolder(t);
  const first = await open([volume]);
  await assert.rejects(open([volume]), (error) => {
    assert.ok(error instanceof StorageLockedError);
    assert.match(error.message, new RegExp(`last by ${process.pid}@`));
    return true;
  });
  await first.close();
  await (await open([volume])).close();
});

test('FORMAT refuses a group that exists; RECOVER one whose raft-meta is missing', async (t) => {
  const volume = await temporaryFolder(t);
  const storage = await open([volume], { startupOption: 'FORMAT' });
  await storage.close();
  await assert.rejects(open([volume], { startupOption: 'FORMAT' }), StorageExistsError);
  const current = storage.currentDirectory;
  await writeFile(join(current, 'raft-meta'), 'term=x\nvotedFor=\n');
  await assert.rejects(open([volume]), StorageCorruptedError);
  await fs.rename(join(current, 'raft-meta'), join(current, 'other'));
  await assert.rejects(open([volume]), StorageNotFormattedError);
  await fs.unlink(join(current, 'other'));
  await writeFile(join(current, 'raft-meta.tmp'), 'left over');
  // A left-over temporary file alone counts as empty: it is removed, and the root formatted.
  await (await open([volume])).close();
  assert.deepEqual(await readdir(current), ['raft-meta']);
});

test('a group goes to the emptiest volume, and is found there (spec: storage 1.3)', async (t) => {
  const folder = await temporaryFolder(t);
  const volumes = ['a', 'b'].map((name) => join(folder, name));
  await mkdir(join(folder, 'a', 'something'), { recursive: true });
  const first = await open(volumes, { startupOption: 'FORMAT' });
  assert.equal(first.rootDirectory, join(folder, 'b', GROUP));
  await first.close();
  const second = await open(volumes);
  assert.equal(second.rootDirectory, first.rootDirectory);
  await second.close();
  await mkdir(join(folder, 'a', GROUP));
  await assert.rejects(open(volumes), StorageVolumeError);
  const other = '12511d47-d67c-49a3-9011-abb3109a44c1';
  await assert.rejects(open(volumes, { groupUuid: other }), StorageVolumeError);
});

test('a volume that cannot be used is passed over; none left is an error', async (t) => {
  const folder = await temporaryFolder(t);
  await writeFile(join(folder, 'file'), '');
  const bad = join(folder, 'file', 'below');
  const good = join(folder, 'good');
  const storage = await open([bad, good], { startupOption: 'FORMAT' });
  assert.equal(storage.rootDirectory, join(good, GROUP));
  await storage.close();
  await assert.rejects(open([bad], { startupOption: 'FORMAT' }), StorageUnavailableError);
});

test('too little free space leaves no half-made group (spec: storage 14.14)', async (t) => {
  const volume = await temporaryFolder(t);
  const freeSpaceMinBytes = Number.MAX_SAFE_INTEGER;
  const startupOption = 'FORMAT';
  await assert.rejects(open([volume], { startupOption, freeSpaceMinBytes }), NoSpaceError);
  assert.deepEqual(await readdir(volume), []);
});

test('groups are found by their directory names (spec: storage 1.4)', async (t) => {
  const volume = await temporaryFolder(t);
  const short = '1-2-3-4-5';
  for (const name of [GROUP, short, 'lost+found', '00000000-0000-0000-0000-000000000000']) {
    await mkdir(join(volume, name));
  }
  await writeFile(join(volume, '22511d47-d67c-49a3-9011-abb3109a44c1'), 'a file');
  const found = await discoverGroups([volume, join(volume, 'missing')], fs);
  assert.deepEqual(found.sort(), ['00000001-0002-0003-0004-000000000005', GROUP]);
});

test('a removed group is deleted, moved away, or left (spec: storage 1.5)', async (t) => {
  const folder = await temporaryFolder(t);
  const removedGroupsDirectory = join(folder, 'removed', 'groups');
  for (const [deleteDirectory, renameDirectory] of [
    [false, false],
    [false, true],
    [true, false],
  ] as const) {
    const storage = await open([folder]);
    await storage.close();
    await removeGroupStorage({
      fs,
      logger: NULL_LOGGER,
      rootDirectory: storage.rootDirectory,
      groupUuid: GROUP,
      deleteDirectory,
      renameDirectory,
      removedGroupsDirectory,
    });
    const stays = !deleteDirectory && !renameDirectory;
    assert.equal(await fs.exists(storage.rootDirectory), stays);
    if (!renameDirectory) continue;
    const moved = join(removedGroupsDirectory, GROUP, 'current', 'raft-meta');
    assert.match(await readFile(moved, 'utf8'), /term=0/);
  }
});

test('the names that a killed process left are made durable before they count', async (t) => {
  const volume = await temporaryFolder(t);
  await (await open([volume])).close();
  const sync = t.mock.method(fs, 'syncDirectory');
  const storage = await open([volume]);
  assert.ok(sync.mock.calls.some((call) => call.arguments[0] === storage.currentDirectory));
  await storage.close();
});

test('a raft-meta that is not one is told with its path', async (t) => {
  const volume = await temporaryFolder(t);
  const storage = await open([volume]);
  const path = join(storage.currentDirectory, 'raft-meta');
  await storage.close();
  await writeFile(path, 'votedFor=n0\nterm=-5\n');
  await assert.rejects(open([volume]), {
    code: 'KONTIKI_STORAGE_CORRUPTED',
    message: `${path} is damaged: the term -5 is negative`,
  });
  await rm(path);
  await mkdir(path);
  await assert.rejects(open([volume]), (error) => {
    assert.ok(error instanceof StorageUnavailableError);
    return error.message.startsWith(`${path} cannot be read: EISDIR`);
  });
});
