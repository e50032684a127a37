import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { InvalidArgumentError } from '../../common/errors.js';
import { IllegalArgumentException, StateMachineException } from '../../protocol/exceptions.js';
import {
  entryAt,
  startedWith,
  storageAt,
  TEST_SERVER,
  temporaryFolder,
  transactionOf,
} from '../../statemachine/state-machine.test-support.js';
import { CounterStateMachine } from './counter-state-machine.js';
import {
  COUNTER_GROUP_ID,
  decodeCounterSnapshot,
  decodeCounterValue,
  encodeCounterSnapshot,
  encodeCounterValue,
  GET,
  INCREMENT,
} from './messages.js';

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex');
}

function increment(machine: CounterStateMachine, index: number): Uint8Array {
  const context = transactionOf(entryAt(index, INCREMENT));
  machine.applyTransactionSerial(context);
  return machine.applyTransaction(context);
}

test('has the messages of the Java example, byte by byte', () => {
  assert.equal(hex(INCREMENT), '494e4352454d454e54');
  assert.equal(hex(GET), '474554');
  assert.equal(hex(encodeCounterValue(1)), '00000001');
  assert.equal(hex(encodeCounterValue(-2147483648)), '80000000');
  assert.equal(decodeCounterValue(Uint8Array.of(0xff, 0xff, 0xff, 0xff)), -1);
  assert.equal(COUNTER_GROUP_ID.uuid, '02511d47-d67c-49a3-9011-abb3109a44c1');
});

test('has the snapshot of the Java example, byte by byte', () => {
  assert.equal(hex(encodeCounterSnapshot(258)), 'aced0005770400000102');
  assert.equal(decodeCounterSnapshot(encodeCounterSnapshot(-5)), -5);
});

test('refuses what is no value and what is no snapshot', () => {
  assert.throws(() => decodeCounterValue(undefined), InvalidArgumentError);
  assert.throws(() => decodeCounterValue(new Uint8Array(5)), InvalidArgumentError);
  assert.throws(() => decodeCounterSnapshot(new Uint8Array(10)), InvalidArgumentError);
  const long = Uint8Array.from([...encodeCounterSnapshot(1), 0]);
  assert.throws(() => decodeCounterSnapshot(long), InvalidArgumentError);
});

test('counts, and answers queries whatever their case', () => {
  const machine = new CounterStateMachine();
  assert.equal(hex(increment(machine, 1)), '00000001');
  assert.equal(hex(increment(machine, 2)), '00000002');
  assert.equal(hex(machine.query(GET)), '00000002');
  assert.equal(hex(machine.query(new TextEncoder().encode('get'))), '00000002');
});

test('wraps as a Java int does', async (t) => {
  const machine = new CounterStateMachine();
  await machine.initialize(TEST_SERVER, storageAt(await temporaryFolder(t)));
  machine.restore(encodeCounterSnapshot(2147483647));
  assert.equal(decodeCounterValue(increment(machine, 1)), -2147483648);
});

test('refuses other writes before they are logged, other queries, and other entries', () => {
  const machine = new CounterStateMachine();
  const other = new TextEncoder().encode('increment');
  const context = startedWith(other);
  machine.startTransaction(context);
  assert.ok(context.exception instanceof IllegalArgumentException);
  assert.equal(context.exception.message, 'Invalid Command: increment');
  assert.throws(() => machine.query(INCREMENT), IllegalArgumentException);
  const logged = transactionOf(entryAt(1, other));
  assert.throws(() => machine.applyTransaction(logged), StateMachineException);
  const good = startedWith(INCREMENT);
  machine.startTransaction(good);
  assert.equal(good.exception, undefined);
});

test('saves and restores its value by a snapshot file', async (t) => {
  const folder = await temporaryFolder(t);
  const machine = new CounterStateMachine();
  await machine.initialize(TEST_SERVER, storageAt(folder));
  for (let index = 1; index <= 3; index++) increment(machine, index);
  assert.equal(await machine.takeSnapshot(), 3);
  assert.equal(hex(await readFile(join(folder, 'snapshot.1_3'))), 'aced0005770400000003');
  const again = new CounterStateMachine();
  await again.initialize(TEST_SERVER, storageAt(folder));
  assert.equal(again.value, 3);
  assert.equal(again.lastAppliedTermIndex.index, 3);
});
