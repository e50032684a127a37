import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidArgumentError } from '../common/errors.js';
import type { TermIndex } from '../protocol/term-index.js';
import { nodeRuntime } from '../runtime/index.js';
import { RaftLogIOException } from './errors.js';
import { entryOf } from './log.test-support.js';
import { MemoryRaftLog } from './memory-log.js';

function openWith(onFlushed: (flushed: TermIndex, generation: number) => void): MemoryRaftLog {
  const listener = { onFlushed, onFailed: () => assert.fail('memory cannot fail') };
  return new MemoryRaftLog({ listener, runtime: nodeRuntime(), snapshotIndex: 4 });
}

test('the log in memory reports flushes in a later turn, under the newest generation', async () => {
  const reported = await new Promise<[TermIndex, number]>((resolve) => {
    const log = openWith((flushed, generation) => resolve([flushed, generation]));
    log.append([entryOf(1, 5), entryOf(1, 6), entryOf(1, 7)], 1);
    assert.equal(log.flushIndex, 4);
    assert.equal(log.pendingEntries, 3);
    log.truncate(7, 2);
    log.append([entryOf(2, 7)], 2);
  });
  assert.deepEqual(reported, [{ term: 2, index: 7 }, 2]);
});

test('the log in memory reads, purges and refuses like the one on disk', async () => {
  const log = openWith(() => undefined);
  const entries = [5, 6, 7, 8].map((index) => entryOf(1, index));
  log.append(entries, 0);
  assert.throws(() => log.append([entryOf(1, 10)], 0), InvalidArgumentError);
  const all = { maxBytes: 1 << 20, maxCount: 10 };
  assert.deepEqual(await log.read(6, 8, all), entries.slice(1));
  assert.equal((await log.read(5, 8, { ...all, maxCount: 2 })).length, 2);
  assert.equal((await log.read(5, 8, { ...all, maxBytes: 1 })).length, 1);
  assert.equal(log.purge(6), 7);
  assert.equal(log.termAt(6), undefined);
  assert.equal(log.termAt(7), 1);
  assert.equal(log.wireSizeAt(7), entries[2]?.fullSizeBytes);
  await assert.rejects(Promise.resolve(log.read(5, 8, all)), RaftLogIOException);
  await log.close();
  assert.throws(() => log.append([entryOf(1, 9)], 0), RaftLogIOException);
});
