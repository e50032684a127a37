import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runKills } from './kill-run.js';

test('a group of three processes loses and repeats nothing while servers are killed', async () => {
  const report = await runKills({ seed: 7, seconds: 10, kills: 2, writes: 2_000 });
  assert.deepEqual(report.findings, []);
  assert.equal(report.kills.length, 2);
  assert.ok(report.acknowledged.ordered > 0 && report.acknowledged.unordered > 0);
  assert.ok(report.acknowledged.ordered + report.acknowledged.unordered >= 2_000);
  assert.equal(report.lost, 0);
  assert.equal(report.appliedTwice, 0);
  assert.ok(report.passed);
});
