import assert from 'node:assert/strict';
import { test } from 'node:test';
import { entryOf, TestLog, temporaryFolder } from './log.test-support.js';
import { Segment } from './segment.js';
import { SegmentCache } from './segment-cache.js';
import { SegmentList } from './segment-list.js';

const PER_SEGMENT = 10;

/** Segments of ten entries, all cached; the last one is open. */
function filled(cache: SegmentCache, segments: number, logBytes = 10): SegmentList {
  const list = new SegmentList(0);
  for (let s = 0; s < segments; s++) {
    const segment = new Segment(s * PER_SEGMENT);
    list.add(segment);
    for (let i = 0; i < PER_SEGMENT; i++) {
      const entry = entryOf(1, segment.startIndex + i, logBytes);
      segment.add(1, entry.kind, false, 50, 45);
      cache.add(segment, entry);
    }
    if (s < segments - 1) segment.close();
  }
  return list;
}

function cachedStarts(cache: SegmentCache, list: SegmentList): number[] {
  return list.segments
    .filter((segment) => cache.get(segment, segment.endIndex) !== undefined)
    .map((segment) => segment.startIndex);
}

const ALL = { safeIndex: 1000, appliedIndex: 1000, followerNextIndices: [] };

test('a follower evicts the oldest applied segments first (spec: storage 5.7)', () => {
  const cache = new SegmentCache(2, 1 << 20);
  const list = filled(cache, 6);
  cache.evict(list, ALL);
  assert.deepEqual(cachedStarts(cache, list), [30, 40, 50]);
});

test('without applied ones a follower evicts the newest that is not applied yet', () => {
  const cache = new SegmentCache(3, 1 << 20);
  const list = filled(cache, 5);
  cache.evict(list, { ...ALL, appliedIndex: 5 });
  assert.deepEqual(cachedStarts(cache, list), [0, 10, 20, 40]);
});

test('a leader spares what its slowest follower needs next, while it can', () => {
  const cache = new SegmentCache(3, 1 << 20);
  const list = filled(cache, 6);
  cache.evict(list, { ...ALL, appliedIndex: 45, followerNextIndices: [25, 46] });
  assert.deepEqual(cachedStarts(cache, list), [20, 30, 40, 50]);
  const tight = new SegmentCache(2, 1 << 20);
  const other = filled(tight, 6);
  tight.evict(other, { ...ALL, appliedIndex: 45, followerNextIndices: [5, 46] });
  assert.deepEqual(cachedStarts(tight, other), [0, 40, 50]);
});

test('segments that are not on disk yet are never evicted', () => {
  const cache = new SegmentCache(0, 0);
  const list = filled(cache, 4);
  cache.evict(list, { ...ALL, safeIndex: 19 });
  assert.deepEqual(cachedStarts(cache, list), [20, 30]);
});

test('above its size the cache drops applied entries of the open segment, too', () => {
  const cache = new SegmentCache(10, 6000);
  const list = filled(cache, 1, 1000);
  assert.equal(cache.isOverSize, true);
  cache.evict(list, { ...ALL, appliedIndex: 4 });
  const [segment] = list.segments;
  assert.ok(segment);
  assert.equal(cache.get(segment, 4), undefined);
  assert.equal(cache.get(segment, 5)?.index, 5);
  cache.truncate(segment, 7);
  assert.equal(cache.get(segment, 6)?.index, 6);
  assert.equal(cache.get(segment, 7), undefined);
  cache.drop(segment);
  assert.equal(cache.bytes, 0);
});

test('evicted entries are read from disk, across segments and beside cached ones', async (t) => {
  const config = {
    segmentSizeMaxBytes: 2000,
    segmentCacheNumMax: 1,
    segmentCacheSizeMaxBytes: 1500,
  };
  const log = await TestLog.open(await temporaryFolder(t), { config });
  const all = Array.from({ length: 100 }, (_, i) => entryOf(1, i, 100));
  for (const entry of all) {
    log.log.append([entry], 0);
    if (entry.index % 10 === 0) await log.flushed();
    log.log.setPositions({
      appliedIndex: log.log.flushIndex,
      snapshotIndex: -1,
      followerNextIndices: [],
    });
  }
  assert.equal(log.log.getCached(0), undefined);
  assert.notEqual(log.log.getCached(99), undefined);
  assert.deepEqual(await log.entries(), all);
  const limits = { maxBytes: 300, maxCount: 50, withData: true };
  assert.equal((await log.log.read(3, 99, limits)).length, 2);
  assert.equal((await log.log.read(3, 99, { ...limits, maxBytes: 1 })).length, 1);
  assert.equal((await log.log.read(3, 99, { ...limits, maxBytes: 1e6, maxCount: 7 })).length, 7);
  await log.log.close();
});

test('what nobody needs any more is released, whole segments and the front of one', () => {
  const cache = new SegmentCache(10, 1e6);
  const list = filled(cache, 3);
  cache.release(24);
  assert.deepEqual(cachedStarts(cache, list), [20]);
  const open = list.segments[2];
  assert.ok(open);
  assert.equal(cache.get(open, 24), undefined);
  assert.equal(cache.get(open, 25)?.index, 25);
  const left = cache.bytes;
  cache.release(25);
  assert.equal(cache.bytes, (left * 4) / 5);
  cache.release(29);
  assert.equal(cache.bytes, 0);
  cache.add(open, entryOf(1, 30, 10));
  assert.equal(cache.get(open, 30)?.index, 30);
});

test('the log keeps what is not applied, or not at a follower, and reads the rest', async (t) => {
  const log = await TestLog.open(await temporaryFolder(t));
  const all = Array.from({ length: 20 }, (_, i) => entryOf(1, i, 100));
  log.log.append(all, 0);
  await log.flushed();
  const cachedFrom = () => all.findIndex(({ index }) => log.log.getCached(index) !== undefined);
  const positions = { appliedIndex: 9, snapshotIndex: -1, followerNextIndices: [20, 5] };
  log.log.setPositions(positions);
  assert.equal(cachedFrom(), 5);
  log.log.setPositions({ ...positions, followerNextIndices: [20, 20] });
  assert.equal(cachedFrom(), 10);
  assert.deepEqual(await log.entries(), all);
  await log.log.close();
});
