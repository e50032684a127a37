import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { StaleReadException } from '../protocol/exceptions.js';
import { StorageCorruptedError } from '../storage/errors.js';
import { BaseStateMachine } from './base-state-machine.js';
import { SnapshotNotSupportedError, StateMachineNotInitializedError } from './errors.js';
import {
  entryAt,
  storageAt,
  TEST_SERVER,
  temporaryFolder,
  transactionOf,
} from './state-machine.test-support.js';
import type { TransactionContext } from './types.js';

/** The least that a state machine can be: it keeps the last write. */
class LastWrite extends BaseStateMachine {
  last: Uint8Array = new Uint8Array(0);

  override applyTransaction(context: TransactionContext): Uint8Array {
    this.last = Uint8Array.from(context.logData);
    return this.last;
  }

  override query(): Uint8Array {
    return this.last;
  }

  override takeSnapshot(): Promise<number> {
    return this.saveSnapshot(this.last);
  }
}

class RestorableLastWrite extends LastWrite {
  override restore(content: Uint8Array): void {
    this.last = content;
  }
}

function applyTo(machine: LastWrite, index: number, byte: number): void {
  const context = transactionOf(entryAt(index, Uint8Array.of(byte)));
  machine.applyTransactionSerial(context);
  machine.applyTransaction(context);
}

test('follows what was applied, writes and other entries', async (t) => {
  const machine = new LastWrite();
  await machine.initialize(TEST_SERVER, storageAt(await temporaryFolder(t)));
  assert.deepEqual(machine.lastAppliedTermIndex, { term: 0, index: -1 });
  machine.events.notifyTermIndexUpdated?.(1, 0);
  assert.deepEqual(machine.lastAppliedTermIndex, { term: 1, index: 0 });
  applyTo(machine, 1, 7);
  assert.deepEqual(machine.lastAppliedTermIndex, { term: 1, index: 1 });
  machine.notifyTermIndexUpdated(1, 0);
  assert.deepEqual(machine.lastAppliedTermIndex, { term: 1, index: 1 });
});

test('restores its latest snapshot when it is initialized', async (t) => {
  const storage = storageAt(await temporaryFolder(t));
  const before = new RestorableLastWrite();
  await before.initialize(TEST_SERVER, storage);
  assert.equal(await before.takeSnapshot(), -1);
  applyTo(before, 4, 42);
  assert.equal(await before.takeSnapshot(), 4);
  const after = new RestorableLastWrite();
  await after.initialize(TEST_SERVER, storage);
  assert.deepEqual(after.lastAppliedTermIndex, { term: 1, index: 4 });
  assert.deepEqual([...after.query()], [42]);
  assert.equal(after.getLatestSnapshot()?.termIndex.index, 4);
});

test('takes a newer snapshot from disk when it is initialized again', async (t) => {
  const storage = storageAt(await temporaryFolder(t));
  const machine = new RestorableLastWrite();
  await machine.initialize(TEST_SERVER, storage);
  const other = new RestorableLastWrite();
  await other.initialize(TEST_SERVER, storage);
  applyTo(other, 9, 9);
  await other.takeSnapshot();
  await machine.pause();
  await machine.reinitialize();
  assert.equal(machine.lastAppliedTermIndex.index, 9);
  assert.deepEqual([...machine.query()], [9]);
});

test('refuses a snapshot whose MD5 does not fit', async (t) => {
  const folder = await temporaryFolder(t);
  const machine = new RestorableLastWrite();
  await machine.initialize(TEST_SERVER, storageAt(folder));
  applyTo(machine, 4, 42);
  await machine.takeSnapshot();
  await writeFile(join(folder, 'snapshot.1_4'), 'other');
  const again = new RestorableLastWrite();
  await assert.rejects(again.initialize(TEST_SERVER, storageAt(folder)), StorageCorruptedError);
});

test('says that it cannot read a snapshot when there is no restore method', async (t) => {
  const storage = storageAt(await temporaryFolder(t));
  const machine = new LastWrite();
  await machine.initialize(TEST_SERVER, storage);
  applyTo(machine, 4, 42);
  await machine.takeSnapshot();
  const again = new LastWrite();
  await assert.rejects(again.initialize(TEST_SERVER, storage), SnapshotNotSupportedError);
});

test('answers a stale read once the index is applied', async (t) => {
  const machine = new LastWrite();
  await machine.initialize(TEST_SERVER, storageAt(await temporaryFolder(t)));
  applyTo(machine, 3, 5);
  assert.throws(() => machine.queryStale(new Uint8Array(0), 4), StaleReadException);
  assert.deepEqual(machine.queryStale(new Uint8Array(0), 3), Uint8Array.of(5));
});

test('deletes old snapshots, but not before it is initialized', async (t) => {
  const machine = new RestorableLastWrite();
  await machine.cleanupOldSnapshots(1);
  await assert.rejects(async () => {
    machine.notifyTermIndexUpdated(1, 1);
    await machine.takeSnapshot();
  }, StateMachineNotInitializedError);
  const folder = await temporaryFolder(t);
  await machine.initialize(TEST_SERVER, storageAt(folder));
  for (const index of [2, 3]) {
    applyTo(machine, index, index);
    await machine.takeSnapshot();
  }
  await machine.cleanupOldSnapshots(1);
  assert.equal(machine.getLatestSnapshot()?.termIndex.index, 3);
  await assert.rejects(
    async () =>
      machine['snapshots'].read({
        path: join(folder, 'snapshot.1_2'),
        sizeBytes: 1,
        digest: undefined,
      }),
    { code: 'ENOENT' },
  );
});
