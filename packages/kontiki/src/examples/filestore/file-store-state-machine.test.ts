import assert from 'node:assert/strict';
import { readdir, readFile, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { withoutData } from '../../proto/wire/index.js';
import type { LogEntry } from '../../proto/wire/types.js';
import { StateMachineException } from '../../protocol/exceptions.js';
import {
  entryAt,
  startedWith,
  storageAt,
  TEST_SERVER,
  temporaryFolder,
  transactionOf,
} from '../../statemachine/state-machine.test-support.js';
import { StorageCorruptedError } from '../../storage/errors.js';
import { FileStoreStateMachine } from './file-store-state-machine.js';
import {
  FileStoreRequestProtoSchema,
  ReadReplyProtoSchema,
  ReadRequestProtoSchema,
  WriteReplyProtoSchema,
} from './gen/filestore_pb.js';
import { encodeWrite } from './messages.js';

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** One server's file store and its log, as a division drives them. */
class Driver {
  readonly folder: string;
  machine = new FileStoreStateMachine();
  /** Entries as the log file holds them. */
  readonly log: LogEntry[] = [];

  constructor(folder: string) {
    this.folder = folder;
  }

  static async start(t: TestContext): Promise<Driver> {
    const driver = new Driver(await temporaryFolder(t));
    t.after(() => driver.machine.close());
    await driver.machine.initialize(TEST_SERVER, storageAt(driver.folder));
    return driver;
  }

  /** Closes nothing: as after a kill. The log is as long as `logLength`. */
  async restart(logLength = this.log.length): Promise<void> {
    await this.machine.close();
    this.log.length = logLength;
    this.machine = new FileStoreStateMachine();
    await this.machine.initialize(TEST_SERVER, storageAt(this.folder));
  }

  /** Starts a request as a leader does, and appends its entry; its index. */
  async append(message: Uint8Array): Promise<number> {
    const context = startedWith(message);
    this.machine.startTransaction(context);
    if (context.exception !== undefined) throw context.exception;
    return this.appendEntry(context.logData, context.stateMachineData);
  }

  /** Appends an entry that another leader made. */
  async appendEntry(logData: Uint8Array, data: Uint8Array | undefined): Promise<number> {
    const entry = entryAt(this.log.length, logData, data);
    if (data !== undefined) {
      await this.machine.dataApi.write(entry, transactionOf(entry));
    }
    await this.machine.dataApi.flush(entry.index);
    this.log.push(withoutData(entry));
    return entry.index;
  }

  /** An entry that the file store does not see. */
  appendOther(): void {
    this.log.push(entryAt(this.log.length, new Uint8Array(0)));
  }

  apply(index: number): Uint8Array {
    const entry = this.log[index];
    assert.ok(entry !== undefined);
    const context = transactionOf(entry);
    this.machine.applyTransactionSerial(context);
    return this.machine.applyTransaction(context);
  }

  async truncate(index: number): Promise<void> {
    await this.machine.dataApi.truncate(index);
    this.log.length = index;
  }

  async write(path: string, offset: number, text: string, close = false): Promise<Uint8Array> {
    return this.apply(
      await this.append(encodeWrite(path, offset, encoder.encode(text), { close })),
    );
  }

  async read(path: string, offset: number, length: number): Promise<string> {
    const request = create(ReadRequestProtoSchema, {
      path: encoder.encode(path),
      offset: BigInt(offset),
      length: BigInt(length),
    });
    const reply = await this.machine.query(toBinary(ReadRequestProtoSchema, request));
    return decoder.decode(fromBinary(ReadReplyProtoSchema, reply).data);
  }

  /** Data of an entry, as a follower that lacks it gets it. */
  async dataAt(index: number): Promise<string> {
    const entry = this.log[index];
    assert.ok(entry !== undefined);
    return decoder.decode(await this.machine.dataApi.read(entry, undefined));
  }

  files(): Promise<string[]> {
    return readdir(this.machine.directory);
  }
}

function deletion(path: string): Uint8Array {
  const value = { path: encoder.encode(path) };
  const request = create(FileStoreRequestProtoSchema, { Request: { case: 'delete', value } });
  return toBinary(FileStoreRequestProtoSchema, request);
}

test('writes, reads back, and answers as the Java example does', async (t) => {
  const driver = await Driver.start(t);
  const reply = fromBinary(WriteReplyProtoSchema, await driver.write('./dir/../a', 0, 'hello '));
  assert.equal(decoder.decode(reply.resolvedPath), 'a');
  assert.equal(reply.length, 6n);
  await driver.write('a', 6, 'world', true);
  assert.equal(await driver.read('a', 0, 11), 'hello world');
  assert.equal(await driver.read('a', 4, 4), 'o wo');
  await assert.rejects(driver.read('a', 6, 6), /Failed to read Committed/);
  await assert.rejects(driver.read('b', 0, 1), StateMachineException);
});

test('shows only what is applied', async (t) => {
  const driver = await Driver.start(t);
  await driver.write('a', 0, 'one');
  const index = await driver.append(encodeWrite('a', 3, encoder.encode('two')));
  await assert.rejects(driver.read('a', 0, 6), /Failed to read Committed/);
  driver.apply(index);
  assert.equal(await driver.read('a', 0, 6), 'onetwo');
});

test('does not touch a file when a write that would replace it is cut off', async (t) => {
  const driver = await Driver.start(t);
  await driver.write('a', 0, 'first', true);
  const index = await driver.append(encodeWrite('a', 0, encoder.encode('other')));
  assert.equal(await driver.read('a', 0, 5), 'first');
  await driver.truncate(index);
  assert.equal(await driver.read('a', 0, 5), 'first');
  assert.deepEqual(await driver.files(), ['a@0']);
});

test('takes the same offset again after the log was cut', async (t) => {
  const driver = await Driver.start(t);
  await driver.write('a', 0, 'abc');
  const cut = await driver.append(encodeWrite('a', 3, encoder.encode('XXXXXX')));
  await driver.append(encodeWrite('a', 9, encoder.encode('YYY')));
  await driver.truncate(cut);
  await driver.write('a', 3, 'def', true);
  assert.equal(await driver.read('a', 0, 6), 'abcdef');
  await driver.machine.close();
  assert.equal(await readFile(join(driver.machine.directory, 'a@0'), 'utf8'), 'abcdef');
});

test('a version made again at the same index waits for the old one to be deleted', async (t) => {
  const driver = await Driver.start(t);
  const cut = await driver.append(encodeWrite('a', 0, encoder.encode('old')));
  const truncated = driver.machine.dataApi.truncate(cut);
  driver.log.length = cut;
  const index = await driver.append(encodeWrite('a', 0, encoder.encode('new')));
  await truncated;
  driver.apply(index);
  await driver.machine.close();
  assert.equal(await readFile(join(driver.machine.directory, 'a@0'), 'utf8'), 'new');
});

test('has everything again after a restart, from the log alone', async (t) => {
  const driver = await Driver.start(t);
  await driver.write('a', 0, 'hello ');
  await driver.write('gone', 0, 'x', true);
  driver.apply(await driver.append(deletion('gone')));
  await driver.write('a', 0, 'again ');
  await driver.write('a', 6, 'there', true);
  await driver.write('empty', 0, '', true);
  await driver.restart();
  for (let index = 0; index < driver.log.length; index++) driver.apply(index);
  assert.equal(await driver.read('a', 0, 11), 'again there');
  assert.equal(await driver.read('empty', 0, 0), '');
  await assert.rejects(driver.read('gone', 0, 1), /not found/);
  assert.deepEqual((await driver.files()).sort(), ['a@3', 'empty@5']);
});

test('goes on after a restart from a snapshot and the log behind it', async (t) => {
  const driver = await Driver.start(t);
  await driver.write('a', 0, 'one');
  await driver.write('b', 0, 'done', true);
  assert.equal(await driver.machine.takeSnapshot(), 1);
  await driver.write('a', 3, 'two');
  await driver.restart();
  assert.equal(driver.machine.lastAppliedTermIndex.index, 1);
  assert.equal(await driver.read('b', 0, 4), 'done');
  driver.apply(2);
  await driver.write('a', 6, 'three', true);
  assert.equal(await driver.read('a', 0, 11), 'onetwothree');
  await assert.rejects(driver.write('b', 4, 'more'), StateMachineException);
});

test('appends after a restart to entries that are in the log and not applied', async (t) => {
  const driver = await Driver.start(t);
  await driver.append(encodeWrite('a', 0, encoder.encode('one')));
  await driver.append(encodeWrite('a', 3, encoder.encode('two')));
  await driver.restart();
  await driver.append(encodeWrite('a', 6, encoder.encode('six'), { close: true }));
  for (const index of [0, 1, 2]) driver.apply(index);
  assert.equal(await driver.read('a', 0, 9), 'onetwosix');
});

test('is not misled by a file whose entry never got into the log', async (t) => {
  const driver = await Driver.start(t);
  await driver.write('a', 0, 'one');
  await driver.append(encodeWrite('a', 0, encoder.encode('lost')));
  await driver.restart(1);
  driver.appendOther();
  driver.apply(0);
  const index = await driver.append(encodeWrite('a', 3, encoder.encode('two')));
  driver.machine.notifyTermIndexUpdated(1, 1);
  driver.apply(index);
  assert.equal(await driver.read('a', 0, 6), 'onetwo');
  await driver.machine.close();
  assert.deepEqual(await driver.files(), ['a@0']);
});

test('refuses writes that do not fit, and stores nothing of them', async (t) => {
  const driver = await Driver.start(t);
  await driver.write('a', 0, 'abc');
  await assert.rejects(
    driver.write('a', 5, 'gap'),
    /Offset\/size mismatched: offset = 5 != writeSize = 3/,
  );
  await assert.rejects(driver.write('a', 0 + 1, 'XX'), StateMachineException);
  await assert.rejects(driver.write('new', 1, 'x'), /File new not found/);
  assert.equal(await driver.read('a', 0, 3), 'abc');
  await driver.write('a', 3, 'd', true);
  await assert.rejects(driver.write('a', 4, 'e'), /File a is closed/);
  assert.equal(await driver.dataAt(1), '\0\0\0');
});

test('a leader refuses what does not fit its proposals before it is logged', async (t) => {
  const driver = await Driver.start(t);
  const propose = (message: Uint8Array) => {
    const context = startedWith(message);
    driver.machine.startTransaction(context);
    driver.machine.preAppendTransaction(context);
    return context;
  };
  propose(encodeWrite('a', 0, encoder.encode('abc')));
  const second = propose(encodeWrite('a', 3, encoder.encode('def')));
  assert.throws(
    () => propose(encodeWrite('a', 3, encoder.encode('ghi'))),
    (error) => error instanceof StateMachineException && !error.leaderShouldStepDown,
  );
  assert.throws(() => propose(deletion('b')), /File b not found/);
  driver.machine.cancelTransaction(second);
  driver.machine.notifyNotLeader();
  propose(encodeWrite('a', 0, encoder.encode('abc')));
});

test('gives followers the data of entries, and zeros for what is gone since', async (t) => {
  const driver = await Driver.start(t);
  await driver.write('a', 0, 'one');
  await driver.write('a', 3, 'two', true);
  assert.equal(await driver.dataAt(1), 'two');
  driver.apply(await driver.append(deletion('a')));
  assert.equal(await driver.dataAt(1), '\0\0\0');
});

test('finds damage by checksums, for readers and for followers', async (t) => {
  const driver = await Driver.start(t);
  await driver.write('a', 0, 'one', true);
  await driver.write('b', 0, 'two', true);
  await driver.machine.close();
  await writeFile(join(driver.machine.directory, 'a@0'), 'oNe');
  await truncate(join(driver.machine.directory, 'b@1'), 1);
  await driver.restart();
  for (const index of [0, 1]) driver.apply(index);
  await assert.rejects(driver.read('a', 0, 3), /a@0 at byte 0 is damaged: its checksum differs/);
  await assert.rejects(driver.dataAt(0), StorageCorruptedError);
  await assert.rejects(driver.read('b', 0, 3), /it ends too early/);
});

test('a watch is answered when the file is made', async (t) => {
  const driver = await Driver.start(t);
  const request = create(ReadRequestProtoSchema, { path: encoder.encode('w'), isWatch: true });
  const watched = driver.machine.query(toBinary(ReadRequestProtoSchema, request));
  await driver.write('w', 0, 'x');
  const reply = fromBinary(ReadReplyProtoSchema, await watched);
  assert.equal(decoder.decode(reply.resolvedPath), 'w');
});

test('refuses paths outside of its folder, and requests that it does not know', async (t) => {
  const driver = await Driver.start(t);
  const data = encoder.encode('x');
  await assert.rejects(driver.append(encodeWrite('../x', 0, data)), /not a sub-path/);
  await assert.rejects(driver.append(encodeWrite('.', 0, data)), /is the root directory/);
  await assert.rejects(driver.append(encodeWrite('p'.repeat(400), 0, data)), /too long/);
  await assert.rejects(driver.append(new Uint8Array(0)), /Unexpected request case none/);
  await assert.rejects(driver.append(Uint8Array.of(0xff)), { code: 'KONTIKI_MALFORMED_MESSAGE' });
});
