import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { NULL_LOGGER } from '../common/logger.js';
import { nodeFileSystem, nodeRuntime } from '../runtime/index.js';
import { NoSpaceError, RaftLogIOException } from './errors.js';
import { entryOf, TestLog, temporaryFolder } from './log.test-support.js';
import { openStorage } from './storage-directory.js';

const GROUP = '02511d47-d67c-49a3-9011-abb3109a44c1';

test('on a full disk the log fails by name and keeps what it acknowledged', async (t) => {
  if (process.platform !== 'linux' || process.getuid?.() !== 0)
    return t.skip('needs root on Linux');
  const volume = join(await temporaryFolder(t), 'mount');
  await mkdir(volume);
  const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', volume]);
  if (mounted.status !== 0) return t.skip('tmpfs cannot be mounted here');
  try {
    const open = () =>
      openStorage({
        volumes: [volume],
        groupUuid: GROUP,
        startupOption: 'RECOVER',
        freeSpaceMinBytes: 0,
        fs: nodeFileSystem(),
        runtime: nodeRuntime(),
        logger: NULL_LOGGER,
      });
    const storage = await open();
    const log = await TestLog.open(storage.currentDirectory);
    let index = 0;
    while (log.failures.length === 0) {
      log.log.append([entryOf(1, index++, 10_000)], 0);
      await log.until(() => log.log.flushIndex === index - 1 || log.failures.length > 0);
    }
    assert.ok(log.failures[0]?.error instanceof NoSpaceError);
    assert.throws(() => log.log.append([entryOf(1, index)], 0), RaftLogIOException);
    const acknowledged = log.log.flushIndex;
    assert.ok(acknowledged > 20);
    await log.log.close();
    // Term and vote need space of their own; an old value stays whole.
    await assert.rejects(
      storage.persistMetadata({ term: 5, votedFor: 'x'.repeat(2_000_000) }),
      (error) => error instanceof Error,
    );
    await storage.close();

    const again = await open();
    assert.deepEqual(again.metadata, { term: 0, votedFor: undefined });
    const reopened = await TestLog.open(again.currentDirectory);
    assert.ok(reopened.log.lastIndex >= acknowledged);
    const entries = await reopened.entries();
    assert.deepEqual(
      entries.slice(0, acknowledged + 1),
      Array.from({ length: acknowledged + 1 }, (_, i) => entryOf(1, i, 10_000)),
    );
    await reopened.log.close();
    await again.close();
  } finally {
    spawnSync('umount', [volume]);
  }
});
