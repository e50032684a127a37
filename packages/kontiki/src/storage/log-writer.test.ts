import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidArgumentError } from '../common/errors.js';
import { NoSpaceError, RaftLogIOException } from './errors.js';
import { entryOf, TestLog } from './log.test-support.js';
import { MemoryFileSystem, type Operation } from './memory-file-system.test-support.js';

/** Fails the operation once, or from now on. */
function failing(fs: MemoryFileSystem, operation: Operation, code: string, once: boolean): void {
  let failed = false;
  fs.fault = (which) => {
    if (which !== operation || (once && failed)) return undefined;
    failed = true;
    return code;
  };
}

async function openWithOneEntry(fs: MemoryFileSystem, config = {}): Promise<TestLog> {
  const log = await TestLog.open('/s', { fs, config });
  log.log.append([entryOf(1, 0)], 0);
  await log.flushed();
  log.flushes.length = 0;
  return log;
}

for (const [operation, code] of [
  ['writev', 'ENOSPC'],
  ['writev', 'EIO'],
  ['datasync', 'EIO'],
] as const) {
  test(`after one ${code} of ${operation} nothing is acknowledged (spec: 6.4)`, async () => {
    const fs = new MemoryFileSystem();
    const log = await openWithOneEntry(fs);
    failing(fs, operation, code, true);
    const second = entryOf(1, 1);
    log.log.append([second], 0);
    await log.failed();
    const [failure] = log.failures;
    assert.ok(failure?.error instanceof (code === 'ENOSPC' ? NoSpaceError : RaftLogIOException));
    assert.equal(failure?.entry?.index, 1);
    assert.throws(() => log.log.append([entryOf(1, 2)], 0), RaftLogIOException);
    assert.throws(() => log.log.truncate(1, 1), RaftLogIOException);
    await log.log.close();
    assert.equal(log.log.flushIndex, 0);
    assert.deepEqual(log.flushes, []);
    assert.equal(log.failures.length, 1);

    // Until restart: what was acknowledged is there, what was not may be.
    const again = await TestLog.open('/s', { fs });
    assert.ok(again.log.lastIndex >= 0 && again.log.lastIndex <= 1);
    await again.log.close();
  });
}

test('entries queued behind a failed write are not written', async () => {
  const fs = new MemoryFileSystem();
  const log = await openWithOneEntry(fs);
  let release = () => {};
  fs.pause = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  log.log.append([entryOf(1, 1)], 0);
  await new Promise<void>((resolve) => {
    fs.fault = (operation) => {
      if (operation === 'datasync') setImmediate(resolve);
      return undefined;
    };
  });
  log.log.append([entryOf(1, 2)], 0);
  failing(fs, 'writev', 'EIO', true);
  release();
  await log.failed();
  await log.log.close();
  assert.deepEqual(
    log.flushes.map(({ flushed }) => flushed.index),
    [1],
  );
  assert.equal(log.failures[0]?.entry?.index, 2);
});

test('a failed rename while rolling ends the log', async () => {
  const fs = new MemoryFileSystem();
  const log = await openWithOneEntry(fs);
  failing(fs, 'rename', 'EIO', true);
  log.log.append([entryOf(2, 1)], 0);
  await log.failed();
  await log.log.close();
  assert.deepEqual(log.flushes, []);
});

test('a queue above its limits says so, and tells when it is drained', async () => {
  const config = { queueElementLimit: 10 };
  const log = await openWithOneEntry(new MemoryFileSystem(), config);
  const some = Array.from({ length: 10 }, (_, i) => entryOf(1, i + 1));
  assert.equal(log.log.append(some, 0), true);
  assert.equal(log.log.append([entryOf(1, 11)], 0), false);
  assert.equal(log.log.pendingEntries, 11);
  await new Promise<void>((resolve) => log.log.whenDrained(resolve));
  assert.equal(log.log.pendingEntries, 0);
  assert.equal(log.log.pendingBytes, 0);
  await log.log.close();
});

test('whoever waits for a drained queue is woken by a failure, too', async () => {
  const fs = new MemoryFileSystem();
  const log = await openWithOneEntry(fs, { queueElementLimit: 1 });
  failing(fs, 'writev', 'EIO', false);
  assert.equal(log.log.append([entryOf(1, 1), entryOf(1, 2)], 0), false);
  await new Promise<void>((resolve) => log.log.whenDrained(resolve));
  assert.equal(log.failures.length, 1);
  await log.log.close();
});

test('appends during a flush share the next one', async () => {
  const fs = new MemoryFileSystem();
  const log = await openWithOneEntry(fs);
  let writes = 0;
  fs.fault = (operation) => {
    if (operation === 'writev') writes++;
    return undefined;
  };
  fs.pause = async () => {
    fs.pause = async () => undefined;
    for (let index = 2; index < 200; index++) log.log.append([entryOf(1, index)], 0);
  };
  log.log.append([entryOf(1, 1)], 0);
  await log.flushed();
  assert.equal(writes, 2);
  assert.deepEqual(
    log.flushes.map(({ flushed }) => flushed.index),
    [1, 199],
  );
  await log.log.close();
});

test('a flush that a truncation overtook does not count for what was removed', async () => {
  const fs = new MemoryFileSystem();
  const log = await openWithOneEntry(fs);
  fs.pause = async () => {
    fs.pause = async () => undefined;
    log.log.truncate(2, 7);
    log.log.append([entryOf(2, 2)], 7);
  };
  log.log.append([entryOf(1, 1), entryOf(1, 2), entryOf(1, 3)], 6);
  await log.until(() => log.flushes.some(({ flushed }) => flushed.term === 2));
  assert.deepEqual(log.flushes, [
    { flushed: { term: 1, index: 1 }, generation: 7 },
    { flushed: { term: 2, index: 2 }, generation: 7 },
  ]);
  assert.equal(log.log.flushIndex, 2);
  await log.log.close();
});

test('with async-flush, an entry waits for a sync of its own (spec: storage 14.9)', async () => {
  const fs = new MemoryFileSystem();
  const log = await openWithOneEntry(fs, { asyncFlushEnabled: true });
  let syncs = 0;
  fs.pause = async () => {
    syncs++;
    if (syncs > 1) return;
    // Written while the first sync is under way: not covered by it.
    log.log.append([entryOf(1, 2)], 0);
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
    assert.equal(log.log.flushIndex, 0);
  };
  log.log.append([entryOf(1, 1)], 0);
  await log.flushed();
  assert.deepEqual(
    log.flushes.map(({ flushed }) => flushed.index),
    [1, 2],
  );
  await log.log.close();
});

for (const mode of ['asyncFlushEnabled', 'unsafeFlushEnabled'] as const) {
  test(`a failed background sync ends the log (${mode})`, async () => {
    const fs = new MemoryFileSystem();
    const log = await openWithOneEntry(fs, { [mode]: true });
    failing(fs, 'datasync', 'EIO', true);
    log.log.append([entryOf(1, 1)], 0);
    await log.failed();
    assert.throws(() => log.log.append([entryOf(1, 2)], 0), RaftLogIOException);
    await log.log.close();
  });
}

test('with unsafe-flush an entry counts once it is written', async () => {
  const fs = new MemoryFileSystem();
  const log = await openWithOneEntry(fs, { unsafeFlushEnabled: true });
  let release = () => {};
  fs.pause = () =>
    new Promise((resolve) => {
      release = resolve;
    });
  log.log.append([entryOf(1, 1)], 0);
  await log.flushed();
  release();
  fs.pause = async () => undefined;
  await log.log.close();
});

test('contradictory settings are refused', async () => {
  const open = (config: object) => TestLog.open('/s', { fs: new MemoryFileSystem(), config });
  await assert.rejects(
    open({ asyncFlushEnabled: true, unsafeFlushEnabled: true }),
    InvalidArgumentError,
  );
  await assert.rejects(
    open({ writeBufferSizeBytes: 1000, entrySizeMaxBytes: 1000 }),
    InvalidArgumentError,
  );
});
