import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogEntry } from '../proto/wire/types.js';
import { StorageCorruptedError } from './errors.js';
import { entryOf, metadataEntryOf, TestLog } from './log.test-support.js';
import { MemoryFileSystem } from './memory-file-system.test-support.js';
import { openName, recordSize, SEGMENT_HEADER, writeRecord } from './segment-format.js';

const PATH = `/s/${openName(0)}`;
const PADDING_BYTES = 8192;

interface SegmentImage {
  readonly bytes: Uint8Array;
  readonly entries: readonly LogEntry[];
  /** Position behind the record of each entry. */
  readonly ends: readonly number[];
}

function imageOf(entries: readonly LogEntry[]): SegmentImage {
  const size = entries.reduce((sum, entry) => sum + recordSize(entry.stored.length), 8);
  const bytes = new Uint8Array(size);
  bytes.set(SEGMENT_HEADER);
  let at = SEGMENT_HEADER.length;
  const ends = entries.map((entry) => {
    at = writeRecord(bytes, at, entry.stored);
    return at;
  });
  return { bytes, entries, ends };
}

/** Ends in two records of some size, the first of which is small or large. */
function imagesToDamage(): SegmentImage[] {
  const head = [entryOf(1, 0), entryOf(1, 1), metadataEntryOf(1, 2, 1)];
  return [
    imageOf([...head, entryOf(1, 3, 40), entryOf(1, 4, 30)]),
    imageOf([...head, entryOf(1, 3, 700), entryOf(1, 4, 1500)]),
    imageOf([...head, entryOf(1, 3, 40), metadataEntryOf(1, 4, 3)]),
  ];
}

/** Loads the bytes; the entries found, or undefined when the store is refused as damaged. */
async function load(bytes: Uint8Array): Promise<LogEntry[] | undefined> {
  const fs = new MemoryFileSystem();
  fs.setFile(PATH, bytes);
  let log: TestLog;
  try {
    log = await TestLog.open('/s', { fs });
  } catch (error) {
    assert.ok(error instanceof StorageCorruptedError, String(error));
    assert.deepEqual(fs.contentOf(PATH), bytes, 'a refused file must stay as it was');
    return undefined;
  }
  const entries = await log.entries();
  await log.log.close();
  return entries;
}

function startOfLastTwo(image: SegmentImage): number {
  return image.ends.at(-3) ?? 0;
}

test('a file cut at any byte of its last two records keeps exactly the intact ones', async () => {
  for (const image of imagesToDamage()) {
    for (let cut = startOfLastTwo(image); cut <= image.bytes.length; cut++) {
      const intact = image.ends.filter((end) => end <= cut).length;
      const found = await load(image.bytes.slice(0, cut));
      assert.deepEqual(found, image.entries.slice(0, intact), `cut at ${cut}`);
    }
  }
});

test('a cut inside preallocated zeros keeps the intact records or is refused', async () => {
  let kept = 0;
  for (const image of imagesToDamage()) {
    for (let cut = startOfLastTwo(image); cut <= image.bytes.length; cut++) {
      const bytes = new Uint8Array(image.bytes.length + PADDING_BYTES);
      bytes.set(image.bytes.subarray(0, cut));
      // Bytes that were zero before the cut are not lost by it.
      const intact = image.ends.findLastIndex((end) =>
        image.bytes.subarray(0, end).every((byte, i) => byte === bytes[i]),
      );
      const found = await load(bytes);
      if (found === undefined) continue;
      kept++;
      assert.deepEqual(found, image.entries.slice(0, intact + 1), `cut at ${cut}`);
    }
  }
  assert.ok(kept > 100, `only ${kept} cuts were recovered`);
});

test('a cut at a sector boundary inside preallocated zeros is always recovered', async () => {
  const image = imageOf([entryOf(1, 0), entryOf(1, 1, 3000), entryOf(1, 2, 3000)]);
  for (let cut = 512; cut < image.bytes.length; cut += 512) {
    const bytes = new Uint8Array(image.bytes.length + PADDING_BYTES);
    bytes.set(image.bytes.subarray(0, cut));
    const intact = image.ends.filter((end) => end <= cut).length;
    assert.deepEqual(await load(bytes), image.entries.slice(0, intact), `cut at ${cut}`);
  }
});

for (const padding of [0, PADDING_BYTES]) {
  test(`a flipped bit in the last two records is refused, ${padding} zeros behind`, async () => {
    for (const image of imagesToDamage()) {
      for (let at = startOfLastTwo(image); at < image.bytes.length; at++) {
        for (const mask of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
          const bytes = new Uint8Array(image.bytes.length + padding);
          bytes.set(image.bytes);
          bytes[at] = (bytes[at] ?? 0) ^ mask;
          assert.equal(await load(bytes), undefined, `byte ${at} xor ${mask}`);
        }
      }
    }
  });
}

test('a record at or below the known commit index is never cut as torn', async () => {
  // The metadata entry says that entry 3 is committed: losing its bytes is damage, not a torn
  // write.
  const image = imageOf([
    entryOf(1, 0),
    entryOf(1, 1),
    metadataEntryOf(1, 2, 3),
    entryOf(1, 3, 900),
  ]);
  assert.equal(await load(image.bytes.slice(0, image.bytes.length - 1)), undefined);
  const padded = new Uint8Array(image.bytes.length + PADDING_BYTES);
  padded.set(image.bytes.subarray(0, 512));
  assert.equal(await load(padded), undefined);
});

test('a lost sector with records behind it is damage', async () => {
  const image = imageOf([entryOf(1, 0), entryOf(1, 1, 2000), entryOf(1, 2, 2000)]);
  const bytes = image.bytes.slice();
  bytes.fill(0, 512, 1024);
  assert.equal(await load(bytes), undefined);
});

test('a torn record in a closed segment is damage: closed segments are synced', async () => {
  const image = imageOf([entryOf(1, 0), entryOf(1, 1)]);
  const fs = new MemoryFileSystem();
  fs.setFile('/s/log_0-1', image.bytes.slice(0, -3));
  await assert.rejects(TestLog.open('/s', { fs }), (error) => {
    assert.ok(error instanceof StorageCorruptedError);
    assert.equal(error.file, '/s/log_0-1');
    assert.equal(error.position, image.ends[0]);
    return true;
  });
});
