import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../common/logger.js';
import { createStateMachineEntry } from '../proto/wire/index.js';
import type { LogEntry } from '../proto/wire/types.js';
import { nodeRuntime } from '../runtime/index.js';
import { DataSync } from './data-sync.js';
import { RaftLogIOException, StateMachineDataTimeoutError } from './errors.js';
import { CONFIG, entryOf, TestLog } from './log.test-support.js';
import { MemoryFileSystem } from './memory-file-system.test-support.js';
import type { LogDataStore, RaftLogConfig } from './types.js';

/** Keeps data in memory, notes the calls, and finishes writes when told. */
class TestDataStore implements LogDataStore {
  readonly calls: string[] = [];
  readonly data = new Map<number, Uint8Array>();
  writeError: Error | undefined;
  hold = false;
  release: () => void = () => undefined;

  write(entry: LogEntry): Promise<void> {
    this.calls.push(`write ${entry.index}`);
    if (this.writeError !== undefined) return Promise.reject(this.writeError);
    this.data.set(entry.index, entry.data ?? new Uint8Array(0));
    if (!this.hold) return Promise.resolve();
    return new Promise((resolve) => {
      this.release = resolve;
    });
  }

  async read(entry: LogEntry): Promise<Uint8Array> {
    this.calls.push(`read ${entry.index}`);
    return this.data.get(entry.index) ?? new Uint8Array(0);
  }

  async link(entry: LogEntry): Promise<void> {
    this.calls.push(`link ${entry.index}`);
  }

  async flush(index: number): Promise<void> {
    this.calls.push(`flush ${index}`);
  }

  async truncate(index: number): Promise<void> {
    this.calls.push(`truncate ${index}`);
  }
}

const DATA = new Uint8Array(5000).fill(7);

function tracedFileSystem(calls: string[]): MemoryFileSystem {
  const fs = new MemoryFileSystem();
  fs.fault = (operation) => {
    if (operation === 'writev' || operation === 'datasync') calls.push(operation);
    return undefined;
  };
  return fs;
}

async function openAt(
  store: TestDataStore,
  config: Partial<RaftLogConfig> = {},
  fs = tracedFileSystem(store.calls),
): Promise<TestLog> {
  const log = await TestLog.open('/s', { fs, config, dataStore: store });
  log.log.append([entryOf(1, 0)], 0);
  await log.flushed();
  store.calls.length = 0;
  return log;
}

test('with data.sync, data is flushed before the record (spec: storage 8)', async () => {
  const store = new TestDataStore();
  const log = await openAt(store);
  log.log.append([entryOf(1, 1, 20, DATA), entryOf(1, 2, 20, DATA)], 0);
  assert.deepEqual(store.calls, ['write 1', 'write 2'], 'called inside append, in log order');
  await log.flushed();
  assert.deepEqual(store.calls.slice(2), ['flush 2', 'writev', 'datasync']);
  await log.log.close();
});

test('an entry is not durable before its data is, in either mode', async () => {
  for (const stateMachineDataSync of [true, false]) {
    const store = new TestDataStore();
    const log = await openAt(store, { stateMachineDataSync });
    log.flushes.length = 0;
    store.hold = true;
    log.log.append([entryOf(1, 1, 20, DATA)], 0);
    if (!stateMachineDataSync) {
      while (!store.calls.includes('datasync')) await new Promise((r) => setImmediate(r));
    }
    for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
    assert.equal(store.calls.includes('writev'), !stateMachineDataSync);
    assert.equal(log.log.flushIndex, 0);
    store.release();
    await log.flushed();
    assert.equal(log.flushes.length, 1);
    await log.log.close();
  }
});

test('the stored entry has no data; read gives it back from the state machine', async () => {
  const store = new TestDataStore();
  const fs = new MemoryFileSystem();
  const entry = entryOf(1, 1, 20, DATA);
  const log = await openAt(store, { stateMachineDataCachingEnabled: true }, fs);
  log.log.append([entry], 0);
  await log.flushed();
  assert.equal(log.log.getCached(1)?.data, undefined);
  assert.equal(log.log.wireSizeAt(1), entry.fullSizeBytes);
  await log.log.close();
  assert.ok((fs.contentOf('/s/log_inprogress_0')?.length ?? 0) < 1000);

  const again = await TestLog.open('/s', { fs, dataStore: store });
  assert.equal(again.log.wireSizeAt(1), entry.fullSizeBytes);
  const limits = { maxBytes: 1 << 20, maxCount: 10 };
  const [bare] = await again.log.read(1, 1, { ...limits, withData: false });
  assert.equal(bare?.data, undefined);
  const [whole] = await again.log.read(1, 1, { ...limits, withData: true });
  assert.deepEqual(whole, entry);
  store.data.set(1, DATA.subarray(1));
  await assert.rejects(
    Promise.resolve(again.log.read(1, 1, { ...limits, withData: true })),
    RaftLogIOException,
  );
  await again.log.close();
});

test('failed data ends the log, and names the entry', async () => {
  const store = new TestDataStore();
  const log = await openAt(store);
  store.writeError = new Error('no room');
  log.log.append([entryOf(1, 1, 20, DATA)], 0);
  await log.failed();
  assert.equal(log.failures[0]?.entry?.index, 1);
  assert.match(log.failures[0]?.error.message ?? '', /no room/);
  assert.equal(log.log.flushIndex, 0);
  assert.equal(store.calls.includes('writev'), false);
  await log.log.close();
});

test('a throw of the data write fails the append, and leaves the log usable', async () => {
  const store = new TestDataStore();
  const log = await openAt(store);
  store.write = () => {
    throw new Error('refused');
  };
  assert.throws(() => log.log.append([entryOf(1, 1, 20, DATA)], 0), /refused/);
  assert.equal(log.log.lastIndex, 0);
  log.log.append([entryOf(1, 1)], 0);
  await log.flushed();
  await log.log.close();
});

test('a data write beyond its time and retries is an error (sync.timeout.retry)', async () => {
  const store = new TestDataStore();
  const log = await openAt(store, {
    stateMachineDataSyncTimeoutMs: 5,
    stateMachineDataSyncTimeoutRetry: 2,
  });
  store.hold = true;
  log.log.append([entryOf(1, 1, 20, DATA)], 0);
  await log.failed();
  assert.ok(log.failures[0]?.error instanceof StateMachineDataTimeoutError);
  await log.log.close();
});

test('a DATASTREAM entry without data is linked (spec: H-15)', async () => {
  const store = new TestDataStore();
  const log = await openAt(store);
  const fields = { term: 1, index: 1, data: undefined, clientId: new Uint8Array(16), callId: 3 };
  log.log.append([createStateMachineEntry({ ...fields, logData: DATA, type: 1 })], 0);
  assert.deepEqual(store.calls, ['link 1']);
  await log.flushed();
  await log.log.close();
});

test('truncation drops the data of the entries that go', async () => {
  const store = new TestDataStore();
  const log = await openAt(store);
  log.log.append([entryOf(1, 1, 20, DATA), entryOf(1, 2, 20, DATA)], 0);
  log.log.truncate(2, 1);
  assert.deepEqual(store.calls, ['write 1', 'write 2', 'truncate 2']);
  await log.until(() => log.flushes.some(({ generation }) => generation === 1));
  assert.equal(log.log.flushIndex, 1);
  await log.log.close();
});

test('a slow read of data is told, and waited for', async () => {
  const store = new TestDataStore();
  let finish: (data: Uint8Array) => void = () => undefined;
  store.read = () => new Promise((resolve) => (finish = resolve));
  const warnings: string[] = [];
  const logger: Logger = {
    isEnabled: () => true,
    log: (_level, message) => {
      warnings.push(message);
      finish(DATA);
    },
  };
  const config = { ...CONFIG, stateMachineDataReadTimeoutMs: 1 };
  const sync = new DataSync(store, config, nodeRuntime(), logger);
  assert.equal(await sync.read(entryOf(1, 7, 20, DATA), store), DATA);
  assert.deepEqual(warnings, [
    'reading state machine data of entry 7 takes longer than 1 ms, waiting on',
  ]);
});
