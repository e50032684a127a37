import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { NULL_LOGGER } from '../common/logger.js';
import { parseStoredEntry, stateMachineBodyOf } from '../proto/wire/index.js';
import { EntryKind } from '../proto/wire/types.js';
import { nodeFileSystem, nodeRuntime } from '../runtime/index.js';
import { crc32c } from './crc32c.js';
import { entryOf, segmentFiles, TEST_DATA, TestLog, temporaryFolder } from './log.test-support.js';
import { readChecksum, readLengthPrefix, writeRecord } from './segment-format.js';
import { openStorage } from './storage-directory.js';

const GROUP = '02511d47-d67c-49a3-9011-abb3109a44c1';
const SNAPSHOTS = {
  'running-before-snapshot': -1,
  'running-after-snapshot': 18,
  'closed-cleanly': 24,
} as const;

interface JavaRecord {
  readonly offset: number;
  readonly length: number;
  readonly crc32cHex: string;
  readonly term: string;
  readonly index: string;
  readonly stateMachineLogEntry?: { readonly logDataHex: string; readonly callId: string };
}

const { javaServer } = JSON.parse(readFileSync(join(TEST_DATA, 'expected.json'), 'utf8')) as {
  readonly javaServer: Readonly<
    Record<string, { readonly segments: Readonly<Record<string, readonly JavaRecord[]>> }>
  >;
};

for (const [name, snapshotIndex] of Object.entries(SNAPSHOTS)) {
  test(`Java's directory ${name} opens, replays, continues and reopens`, async (t) => {
    const volume = await temporaryFolder(t);
    await cp(join(TEST_DATA, 'java-server', name), volume, { recursive: true });
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
    assert.equal(storage.metadata.votedFor, 'n0');
    assert.equal(storage.metadata.term, 1);
    assert.deepEqual(
      (await storage.readConfiguration())?.cur.voters.map((peer) => peer.id),
      ['n0'],
    );

    const expected = Object.values(javaServer[name]?.segments ?? {}).flat();
    const log = await TestLog.open(storage.currentDirectory, { snapshotIndex });
    const found = await log.entries();
    assert.deepEqual(
      found.map((entry) => [entry.term, entry.index, entry.stored.length]),
      expected.map((record) => [Number(record.term), Number(record.index), record.length]),
    );
    for (const [i, entry] of found.entries()) {
      const body = expected[i]?.stateMachineLogEntry;
      assert.equal(entry.kind === EntryKind.STATE_MACHINE, body !== undefined);
      if (body === undefined) continue;
      const { logData, callId } = stateMachineBodyOf(entry);
      assert.equal(Buffer.from(logData).toString('hex'), body.logDataHex);
      assert.equal(String(callId), body.callId);
    }

    const next = log.log.lastIndex + 1;
    log.log.append([entryOf(1, next), entryOf(2, next + 1)], 0);
    await log.flushed();
    await log.log.close();
    await storage.close();

    const again = await open();
    const reopened = await TestLog.open(again.currentDirectory, { snapshotIndex });
    assert.deepEqual((await reopened.entries()).slice(0, -2), found);
    assert.equal(reopened.log.lastIndex, next + 1);
    await reopened.log.close();
    await again.close();
  });

  test(`every record of ${name} is written again byte for byte`, () => {
    const folder = join(TEST_DATA, 'java-server', name, GROUP, 'current');
    for (const [file, records] of Object.entries(javaServer[name]?.segments ?? {})) {
      const bytes = new Uint8Array(readFileSync(join(folder, file)));
      for (const { offset, length, crc32cHex } of records) {
        const prefix = readLengthPrefix(bytes, offset);
        assert.ok(prefix.kind === 'ok' && prefix.value === length);
        const start = offset + prefix.sizeBytes;
        const end = start + length;
        assert.equal(readChecksum(bytes, end), Number.parseInt(crc32cHex, 16));
        assert.equal(crc32c(bytes, offset, end), Number.parseInt(crc32cHex, 16));
        const written = new Uint8Array(end + 4 - offset);
        writeRecord(written, 0, parseStoredEntry(bytes.slice(start, end)).stored);
        assert.deepEqual(written, bytes.slice(offset, end + 4));
      }
    }
  });
}

test('a log that ends before the snapshot is dropped whole (spec: storage 14.6)', async (t) => {
  const folder = await temporaryFolder(t);
  await cp(join(TEST_DATA, 'java-server', 'closed-cleanly', GROUP, 'current'), folder, {
    recursive: true,
  });
  const log = await TestLog.open(folder, { snapshotIndex: 30 });
  assert.deepEqual(await segmentFiles(folder), {});
  assert.equal(log.log.startIndex, 31);
  assert.equal(log.log.lastIndex, 30);
  assert.equal(log.log.flushIndex, 30);
  log.log.append([entryOf(1, 31)], 0);
  await log.flushed();
  await log.log.close();
});
