import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StorageCorruptedError } from './errors.js';
import { entryOf, TestLog } from './log.test-support.js';
import { MemoryFileSystem } from './memory-file-system.test-support.js';

test('a log that begins behind its snapshot is refused: entries are lost', async () => {
  const fs = new MemoryFileSystem();
  const config = { segmentSizeMaxBytes: 200, purgeGap: 1 };
  const log = await TestLog.open('/s', { fs, config });
  log.log.append(
    Array.from({ length: 10 }, (_, index) => entryOf(1, index)),
    0,
  );
  await log.flushed();
  const start = log.log.purge(6);
  assert.ok(start > 0);
  await log.log.close();
  await assert.rejects(TestLog.open('/s', { fs, config }), (error) => {
    assert.ok(error instanceof StorageCorruptedError);
    assert.match(error.message, /the log begins with it, and there is no snapshot$/);
    return true;
  });
  const options = { fs, config, snapshotIndex: start - 1 };
  assert.equal((await TestLog.open('/s', options)).log.startIndex, start);
});
