import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RandomCluster } from './scenario/cluster.test-support.js';

/** Seeds that found bugs once, as long as the events that they draw stay the same. */
const REGRESSIONS: readonly number[] = [];
const STEPS = 4000;
/** KONTIKI_SEEDS=FIRST:COUNT runs other seeds, and more of them. */
const [first = 1, count = 500] = (process.env['KONTIKI_SEEDS'] ?? '')
  .split(':')
  .filter(Boolean)
  .map(Number);

interface Totals {
  leaders: number;
  commits: number;
  reads: number;
  changes: number;
  transfers: number;
}

function run(seed: number, totals: Totals): void {
  const cluster = new RandomCluster(seed);
  try {
    for (let i = 0; i < STEPS; i++) cluster.step();
    cluster.recover(30_000);
  } catch (error) {
    throw new Error(`seed ${seed}: ${String(error)}\n${cluster.describe()}`, { cause: error });
  }
  totals.leaders += cluster.leadersSeen;
  totals.commits += cluster.invariants.committed.length;
  totals.reads += cluster.readsConfirmed;
  totals.changes += cluster.changesDone;
  totals.transfers += cluster.transfersDone;
}

test('random faults break no invariant, and agreement returns (I-1 to I-10, I-19, I-22)', () => {
  const totals: Totals = { leaders: 0, commits: 0, reads: 0, changes: 0, transfers: 0 };
  const seeds = [...REGRESSIONS, ...Array.from({ length: count }, (_, i) => first + i)];
  for (const seed of seeds) run(seed, totals);
  assert.ok(totals.leaders > seeds.length, 'leaders were elected');
  assert.ok(totals.commits > 10 * seeds.length, `only ${totals.commits} entries were committed`);
  assert.ok(totals.reads > 0, 'reads were confirmed');
  assert.ok(totals.changes > 0, 'members were changed');
  assert.ok(totals.transfers > 0, 'leadership was transferred');
});
