import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { LogEntry } from '../proto/wire/types.js';
import { StorageCorruptedError } from './errors.js';
import { entryOf, metadataEntryOf, TestLog, temporaryFolder } from './log.test-support.js';
import { MemoryFileSystem, seededRandom } from './memory-file-system.test-support.js';
import type { RaftLogConfig } from './types.js';

const SMALL_SEGMENTS: Partial<RaftLogConfig> = {
  segmentSizeMaxBytes: 3000,
  preallocatedSizeBytes: 1500,
  purgeGap: 1,
  segmentCacheNumMax: 1,
  segmentCacheSizeMaxBytes: 4000,
};

/**
 * Runs a random load against a file system whose power is cut at a random moment; what must be
 * there afterwards.
 */
class CrashRun {
  readonly #random: () => number;
  readonly fs = new MemoryFileSystem();
  #log: TestLog | undefined;
  #term = 1;
  #generation = 0;
  /** The log as it should be, and as it was before each truncation that may not be on disk yet. */
  #current: LogEntry[] = [];
  readonly versions: LogEntry[][] = [];
  ackedIndex = -1;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  async load(steps: number): Promise<void> {
    this.fs.pause = () => new Promise((resolve) => setImmediate(resolve));
    this.#log = await TestLog.open('/s', { fs: this.fs, config: SMALL_SEGMENTS });
    for (let step = 0; step < steps; step++) {
      this.#act(this.#log);
      if (this.#random() < 0.5) await new Promise((resolve) => setImmediate(resolve));
      this.#takeAcks(this.#log);
    }
    this.versions.push(this.#current);
  }

  #takeAcks(log: TestLog): void {
    for (const { flushed, generation } of log.flushes.splice(0)) {
      if (generation !== this.#generation) continue;
      this.ackedIndex = Math.max(this.ackedIndex, flushed.index);
    }
  }

  #act(log: TestLog): void {
    const next = this.#current.length;
    if (this.#random() < 0.9 || next === 0) {
      const size = this.#random() < 0.2 ? 1200 : Math.floor(this.#random() * 80);
      if (this.#random() < 0.05) this.#term++;
      const entry =
        this.#random() < 0.1 && this.ackedIndex > 0
          ? metadataEntryOf(this.#term, next, this.ackedIndex)
          : entryOf(this.#term, next, size);
      this.#current = [...this.#current, entry];
      log.log.append([entry], this.#generation);
      return;
    }
    // What a follower does: only entries that are not committed are truncated.
    const index = next - Math.floor(this.#random() * Math.min(5, next)) - 1;
    this.versions.push(this.#current);
    this.#current = this.#current.slice(0, index);
    this.#term++;
    this.#takeAcks(log);
    this.ackedIndex = Math.min(this.ackedIndex, index - 1);
    log.log.truncate(index, ++this.#generation);
  }

  powerCut(): MemoryFileSystem {
    return this.fs.afterPowerCut(this.#random);
  }
}

function isPrefix(found: readonly LogEntry[], whole: readonly LogEntry[]): boolean {
  return (
    found.length <= whole.length &&
    found.every(
      (entry, i) =>
        Buffer.compare(entry.stored, whole[i]?.stored ?? entry.stored.subarray(1)) === 0,
    )
  );
}

test('after a power cut every acknowledged entry is there, or the store is refused', async () => {
  let refused = 0;
  const runs = 300;
  for (let seed = 1; seed <= runs; seed++) {
    const run = new CrashRun(seed);
    await run.load(5 + (seed % 60));
    const fs = run.powerCut();
    let log: TestLog;
    try {
      log = await TestLog.open('/s', { fs, config: SMALL_SEGMENTS });
    } catch (error) {
      assert.ok(error instanceof StorageCorruptedError, `seed ${seed}: ${error}`);
      refused++;
      continue;
    }
    const found = await log.entries();
    const message = `seed ${seed}: ${found.length} entries, acknowledged ${run.ackedIndex}`;
    assert.ok(found.length > run.ackedIndex, message);
    assert.ok(
      run.versions.some((version) => isPrefix(found, version)),
      `${message}: entries that were never in the log together`,
    );
    log.log.append([entryOf(1000, found.length)], 0);
    await log.flushed();
    await log.log.close();
  }
  assert.ok(refused < runs / 2, `${refused} of ${runs} runs were refused`);
});

type Step =
  | { readonly kind: 'append'; readonly sizes: readonly number[]; readonly newTerm: boolean }
  | { readonly kind: 'truncate' | 'purge'; readonly share: number }
  | { readonly kind: 'reopen' | 'settle' };

const STEP: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('append' as const),
      sizes: fc.array(fc.integer({ min: 0, max: 1500 }), { minLength: 1, maxLength: 8 }),
      newTerm: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('truncate' as const, 'purge' as const),
      share: fc.double({ min: 0, max: 1, noNaN: true }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constantFrom('reopen' as const, 'settle' as const) }),
  },
);

/** A log as a plain list. */
class Model {
  entries: LogEntry[] = [];
  startIndex = 0;
  term = 1;

  get nextIndex(): number {
    return this.startIndex + this.entries.length;
  }
}

function apply(step: Step, model: Model, log: TestLog, generation: number): void {
  if (step.kind === 'append') {
    if (step.newTerm) model.term++;
    const entries = step.sizes.map((size, i) => entryOf(model.term, model.nextIndex + i, size));
    log.log.append(entries, generation);
    model.entries.push(...entries);
  } else if (step.kind === 'truncate') {
    const kept = Math.floor(step.share * model.entries.length);
    log.log.truncate(model.startIndex + kept, generation);
    model.entries.length = kept;
    model.term++;
  } else if (step.kind === 'purge') {
    const upTo = model.startIndex + Math.floor(step.share * model.entries.length) - 1;
    const start = log.log.purge(upTo);
    assert.ok(start <= upTo + 1 || start === model.startIndex);
    model.entries.splice(0, start - model.startIndex);
    model.startIndex = start;
  }
}

async function check(model: Model, log: TestLog): Promise<void> {
  assert.equal(log.log.lastIndex, model.nextIndex - 1);
  // A log that lost all its entries by truncation, after a purge, forgets over a restart where it
  // began.
  if (model.entries.length === 0) return;
  assert.equal(log.log.startIndex, model.startIndex);
  assert.deepEqual(await log.entries(), model.entries);
  for (const entry of model.entries) {
    assert.equal(log.log.termAt(entry.index), entry.term);
    assert.equal(log.log.kindAt(entry.index), entry.kind);
    assert.equal(log.log.wireSizeAt(entry.index), entry.fullSizeBytes);
  }
}

test('random appends, truncations, purges and restarts leave what a list would hold', async (t) => {
  const folder = await temporaryFolder(t);
  let run = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(STEP, { maxLength: 30 }), async (steps) => {
      const fs = new MemoryFileSystem();
      const path = `${folder}/${run++}`;
      const model = new Model();
      const open = () =>
        TestLog.open(path, { fs, config: SMALL_SEGMENTS, snapshotIndex: model.startIndex - 1 });
      let log = await open();
      let generation = 0;
      for (const step of steps) {
        if (step.kind === 'reopen') {
          await log.log.close();
          assert.deepEqual(log.failures, []);
          log = await open();
        } else if (step.kind === 'settle') await log.flushed();
        else apply(step, model, log, ++generation);
        await check(model, log);
      }
      await log.log.close();
    }),
    { numRuns: 150 },
  );
});

test('what a killed process wrote and did not sync is durable once it is reopened', async () => {
  const fs = new MemoryFileSystem();
  const killed = await TestLog.open('/s', { fs });
  killed.log.append([entryOf(1, 0)], 0);
  await killed.flushed();
  fs.pause = () => new Promise(() => undefined);
  killed.log.append([entryOf(1, 1)], 0);
  await new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  fs.pause = async () => undefined;
  const restarted = await TestLog.open('/s', { fs });
  assert.equal(restarted.log.flushIndex, 1);
  const found = await TestLog.open('/s', { fs: fs.afterPowerCut(() => 0.99) });
  assert.equal(found.log.lastIndex, 1);
});
