import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidArgumentError } from '../common/errors.js';
import { RaftLogIOException } from './errors.js';
import { entryOf, segmentFiles, TestLog, temporaryFolder } from './log.test-support.js';

test('what is appended is flushed, read back, and there again after a restart', async (t) => {
  const folder = await temporaryFolder(t);
  const first = await TestLog.open(folder);
  const entries = [0, 1, 2, 3].map((index) => entryOf(1, index));
  assert.equal(first.log.append(entries, 5), true);
  assert.equal(first.log.flushIndex, -1);
  await first.flushed();
  assert.deepEqual(first.flushes, [{ flushed: { term: 1, index: 3 }, generation: 5 }]);
  assert.deepEqual(await first.entries(), entries);
  await first.log.close();

  const second = await TestLog.open(folder);
  assert.deepEqual(await second.entries(), entries);
  assert.equal(second.log.flushIndex, 3);
  second.log.append([entryOf(1, 4)], 0);
  await second.log.close();
  const third = await TestLog.open(folder);
  assert.equal(third.log.lastIndex, 4);
  await third.log.close();
});

test('everything appended in one turn is one flush', async (t) => {
  const test = await TestLog.open(await temporaryFolder(t));
  for (let index = 0; index < 500; index++) test.log.append([entryOf(1, index)], 0);
  await test.flushed();
  assert.equal(test.flushes.length, 1);
  await test.log.close();
});

test('a truncated log goes on with other entries', async (t) => {
  const folder = await temporaryFolder(t);
  const log = await TestLog.open(folder);
  log.log.append(
    [0, 1, 2, 3, 4].map((index) => entryOf(1, index)),
    0,
  );
  await log.flushed();
  log.log.truncate(2, 1);
  assert.equal(log.log.lastIndex, 1);
  assert.equal(log.log.flushIndex, 1);
  log.log.append([entryOf(2, 2, 33)], 1);
  await log.flushed();
  await log.log.close();
  assert.deepEqual(Object.keys(await segmentFiles(folder)), ['log_0-1', 'log_inprogress_2']);
  const again = await TestLog.open(folder);
  assert.deepEqual(await again.entries(), [entryOf(1, 0), entryOf(1, 1), entryOf(2, 2, 33)]);
  await again.log.close();
});

test('gaps and falling terms are refused, and change nothing', async (t) => {
  const { log } = await TestLog.open(await temporaryFolder(t));
  log.append([entryOf(2, 0)], 0);
  assert.throws(() => log.append([entryOf(2, 2)], 0), InvalidArgumentError);
  assert.throws(() => log.append([entryOf(2, 1), entryOf(2, 3)], 0), InvalidArgumentError);
  assert.throws(() => log.append([entryOf(1, 1)], 0), InvalidArgumentError);
  assert.equal(log.lastIndex, 0);
  await log.close();
});

test('an entry with a record above the limit is refused (spec: storage 14.10)', async (t) => {
  const config = { entrySizeMaxBytes: 1000 };
  const { log } = await TestLog.open(await temporaryFolder(t), { config });
  const overhead = entryOf(1, 0, 900).stored.length - 900;
  const fits = 1000 - 4 - 2 - overhead;
  log.append([entryOf(1, 0, fits)], 0);
  assert.throws(() => log.append([entryOf(1, 1, fits)], 0), InvalidArgumentError);
  await log.close();
  assert.throws(() => log.append([entryOf(1, 1)], 0), RaftLogIOException);
});
