import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrashingFileSystem } from '../runtime/vfs/crashing-file-system.test-support.js';
import { entryOf, segmentFiles, TestLog, temporaryFolder } from './log.test-support.js';

const SMALL = { config: { segmentSizeMaxBytes: 300, preallocatedSizeBytes: 100 } };

function entriesFrom(first: number, count: number, term = 1) {
  return Array.from({ length: count }, (_, i) => entryOf(term, first + i));
}

test('quirk 6: a snapshot behind the log drops all of it, the open segment too', async (t) => {
  const folder = await temporaryFolder(t);
  const { log } = await TestLog.open(folder, SMALL);
  log.append(entriesFrom(0, 20), 0);
  log.installSnapshot(50);
  assert.equal(log.startIndex, 51);
  assert.equal(log.lastIndex, 50);
  assert.equal(log.termAt(10), undefined);
  assert.equal(log.flushIndex, 50);
  await log.settled();
  assert.deepEqual(await segmentFiles(folder), {});
  assert.equal(log.pendingEntries, 0);
  log.append(entriesFrom(51, 2, 3), 1);
  await log.close();
  const again = await TestLog.open(folder, { ...SMALL, snapshotIndex: 50 });
  assert.equal(again.log.lastIndex, 52);
  assert.equal(again.log.startIndex, 51);
  await again.log.close();
});

test('quirk 7: a snapshot inside of the open segment keeps what is behind it', async (t) => {
  const folder = await temporaryFolder(t);
  const test = await TestLog.open(folder);
  test.log.append(entriesFrom(0, 10), 0);
  test.log.installSnapshot(5);
  assert.equal(test.log.lastIndex, 9);
  test.log.append([entryOf(1, 10)], 0);
  await test.log.settled();
  assert.equal(test.log.flushIndex, 10);
  assert.equal((await test.entries()).length, 11);
  await test.log.close();
});

test('quirk 8: entries queued at the installation have no newer generation', async (t) => {
  const test = await TestLog.open(await temporaryFolder(t), SMALL);
  test.log.append(entriesFrom(0, 20), 0);
  test.log.installSnapshot(30);
  test.log.append(entriesFrom(31, 1, 2), 1);
  await test.log.settled();
  assert.deepEqual(test.flushes, [{ flushed: { term: 2, index: 31 }, generation: 1 }]);
  await test.log.close();
});

test('a kill at any step of the removal leaves a log that opens behind the snapshot', async (t) => {
  for (let crashAt = 1; ; crashAt++) {
    const folder = await temporaryFolder(t);
    const fs = new CrashingFileSystem();
    const first = await TestLog.open(folder, { ...SMALL, fs });
    first.log.append(entriesFrom(0, 30), 0);
    await first.log.settled();
    fs.steps = 0;
    fs.crashAt = crashAt;
    first.log.installSnapshot(40);
    await first.log.settled().catch(() => undefined);
    await first.log.close();
    const again = await TestLog.open(folder, { ...SMALL, snapshotIndex: 40 });
    assert.equal(again.log.startIndex, 41);
    assert.equal(again.log.lastIndex, 40);
    again.log.append(entriesFrom(41, 1, 2), 0);
    await again.log.settled();
    await again.log.close();
    if (!fs.hasCrashed) break;
  }
});

test('`settled` rejects once the log has failed', async (t) => {
  const fs = new CrashingFileSystem();
  const { log } = await TestLog.open(await temporaryFolder(t), { fs });
  fs.steps = 0;
  fs.crashAt = 1;
  log.append(entriesFrom(0, 1), 0);
  await assert.rejects(log.settled(), { code: 'KONTIKI_LOG_IO' });
  await assert.rejects(log.settled(), { code: 'KONTIKI_LOG_IO' });
  await log.close();
});
