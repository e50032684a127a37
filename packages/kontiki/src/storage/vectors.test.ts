import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { NULL_LOGGER } from '../common/logger.js';
import { EntryKind } from '../proto/wire/types.js';
import { NumberOutOfRangeException } from '../protocol/exceptions.js';
import { nodeFileSystem } from '../runtime/index.js';
import { StorageCorruptedError } from './errors.js';
import { copyOf, segmentFiles, TEST_DATA, TestLog } from './log.test-support.js';
import { decodeMetadata, readMetadata } from './raft-meta.js';
import { readConfigurationFile } from './raft-meta-conf.js';

interface Outcome {
  readonly ok: boolean;
  readonly startIndex?: string;
  readonly last?: { readonly term: string; readonly index: string } | null;
  readonly commitIndex?: string;
  readonly entries?: readonly {
    readonly term: string;
    readonly index: string;
    readonly body: string;
    readonly protoSize: number;
  }[];
  readonly filesAfterLoad: Readonly<Record<string, number>>;
}

interface Expected {
  readonly segments: Readonly<
    Record<string, { readonly EXCEPTION: Outcome; readonly WARN_AND_RETURN: Outcome }>
  >;
  readonly meta: Readonly<
    Record<string, { readonly ok: boolean; readonly term?: string; readonly votedFor?: string }>
  >;
}

const expected = JSON.parse(readFileSync(join(TEST_DATA, 'expected.json'), 'utf8')) as Expected;

/**
 * Where Kontiki departs from what Java does with a vector, on purpose (design: section 3; spec:
 * storage 14).
 */
const DIVERGENCES: Readonly<
  Record<
    string,
    {
      readonly why: string;
      readonly EXCEPTION?: 'asWarnAndReturn' | 'outOfRange';
      readonly WARN_AND_RETURN?: 'outOfRange';
      readonly files?: Readonly<Record<string, number>>;
    }
  >
> = {
  '06-open-torn-in-length': {
    why: 'a record that runs past the end of the file is torn wherever it is cut',
    EXCEPTION: 'asWarnAndReturn',
  },
  '17-closed-too-short': {
    why: 'the last closed segment gets the name of what it holds',
    files: { 'log_0-1': 138 },
  },
  '20-large-numbers': {
    why: 'a term beyond 2^53 is refused by name',
    EXCEPTION: 'outOfRange',
    WARN_AND_RETURN: 'outOfRange',
  },
  '22-non-canonical-proto': {
    why: 'record lengths are taken from the file, so nothing is cut',
    files: { log_inprogress_0: 153 },
  },
  '30-closed-checksum-mismatch-last': {
    why: 'the last closed segment gets the name of what it holds',
    files: { 'log_0-1': 138 },
  },
};

const KINDS: Readonly<Record<string, EntryKind>> = {
  configurationEntry: EntryKind.CONFIGURATION,
  stateMachineLogEntry: EntryKind.STATE_MACHINE,
  metadataEntry: EntryKind.METADATA,
};

async function checkLoaded(log: TestLog, outcome: Outcome): Promise<void> {
  const entries = await log.entries();
  assert.deepEqual(
    entries.map((entry) => [entry.term, entry.index, entry.kind]),
    (outcome.entries ?? []).map((e) => [Number(e.term), Number(e.index), KINDS[e.body]]),
  );
  if (outcome.last != null) {
    assert.deepEqual(log.log.lastTermIndex, {
      term: Number(outcome.last.term),
      index: Number(outcome.last.index),
    });
    assert.equal(log.log.startIndex, Number(outcome.startIndex));
  } else assert.equal(log.log.lastIndex, -1);
  assert.equal(log.opened.lastMetadataCommitIndex, Number(outcome.commitIndex));
}

for (const [name, vector] of Object.entries(expected.segments)) {
  for (const policy of ['EXCEPTION', 'WARN_AND_RETURN'] as const) {
    const divergence = DIVERGENCES[name];
    const different = divergence?.[policy];
    const why = divergence === undefined ? '' : ` (${divergence.why})`;
    test(`segments ${name} under ${policy} end as expected${why}`, async (t) => {
      const folder = await copyOf(t, 'segments', name);
      const outcome = different === 'asWarnAndReturn' ? vector.WARN_AND_RETURN : vector[policy];
      const before = await segmentFiles(folder);
      const opening = TestLog.open(folder, { config: { corruptionPolicy: policy } });
      if (different === 'outOfRange') {
        await assert.rejects(opening, NumberOutOfRangeException);
        return;
      }
      if (!outcome.ok) {
        await assert.rejects(opening, StorageCorruptedError);
        assert.deepEqual(await segmentFiles(folder), before, 'nothing may be changed');
        return;
      }
      const log = await opening;
      await checkLoaded(log, outcome);
      assert.deepEqual(await segmentFiles(folder), divergence?.files ?? outcome.filesAfterLoad);
      await log.log.close();
    });
  }
}

test('WARN_AND_RETURN keeps an unreadable file aside (spec: storage 14.5)', async (t) => {
  const folder = await copyOf(t, 'segments', '14-header-mismatch');
  const log = await TestLog.open(folder, { config: { corruptionPolicy: 'WARN_AND_RETURN' } });
  await log.log.close();
  const names = await readdir(folder);
  assert.equal(names.filter((name) => /^damaged-\d+-log_inprogress_0$/.test(name)).length, 1);
});

for (const [name, vector] of Object.entries(expected.meta)) {
  test(`raft-meta ${name} is read as expected`, async () => {
    const reading = readMetadata(nodeFileSystem(), join(TEST_DATA, 'meta', name));
    if (!vector.ok) return assert.rejects(reading, StorageCorruptedError);
    if (!Number.isSafeInteger(Number(vector.term))) {
      return assert.rejects(reading, NumberOutOfRangeException);
    }
    const { term, votedFor } = await reading;
    assert.equal(term, Number(vector.term));
    assert.equal(votedFor ?? '', vector.votedFor);
  });
}

test('raft-meta large-term differs from a damaged one', () => {
  const text = (term: string) => new TextEncoder().encode(`term=${term}\nvotedFor=\n`);
  assert.throws(() => decodeMetadata('f', text('9007199254740993')), NumberOutOfRangeException);
  assert.throws(() => decodeMetadata('f', text('9223372036854775808')), StorageCorruptedError);
});

test('raft-meta.conf vectors give their configurations, a truncated one gives none', async () => {
  const read = (name: string) =>
    readConfigurationFile(nodeFileSystem(), join(TEST_DATA, 'conf', name), NULL_LOGGER);
  const stable = await read('stable');
  assert.deepEqual(
    stable?.cur.voters.map((peer) => peer.id),
    ['n0', 'n1', 'n2'],
  );
  assert.equal(stable?.index, 0);
  const joint = await read('joint');
  assert.deepEqual(
    joint?.old?.voters.map((peer) => peer.id),
    ['n0', 'n1', 'n2'],
  );
  assert.deepEqual(
    joint?.cur.listeners.map((peer) => peer.id),
    ['l0'],
  );
  assert.equal(joint?.index, 1000);
  assert.equal((await read('no-term'))?.index, 8);
  assert.equal(await read('truncated'), undefined);
  assert.equal(await read('missing'), undefined);
});
