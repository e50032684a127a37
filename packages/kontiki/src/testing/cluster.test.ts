import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConsoleLogger } from '../runtime/index.js';
import { MiniCluster, type MiniClusterOptions } from './mini-cluster.js';
import { bytes, RecordingStateMachine, text } from './recording-state-machine.js';

const logger = process.env['KONTIKI_TEST_LOG'] === undefined ? undefined : createConsoleLogger();

function options(fields: Partial<MiniClusterOptions> = {}): MiniClusterOptions {
  return {
    stateMachine: () => new RecordingStateMachine(),
    ...(logger === undefined ? {} : { logger }),
    ...fields,
  };
}

function machines(cluster: MiniCluster): RecordingStateMachine[] {
  return cluster.divisions().map((division) => division.stateMachine as RecordingStateMachine);
}

test('three servers elect a leader, and a write is applied on all of them', async () => {
  await using cluster = await MiniCluster.start(options());
  const reply = await cluster.write(bytes('a'));
  assert.equal(reply.success, true);
  assert.equal(text(reply.message), '1');
  await cluster.waitForAgreement();
  for (const machine of machines(cluster)) assert.deepEqual(machine.applied, ['a']);
});

test('a single server elects itself and serves', async () => {
  await using cluster = await MiniCluster.start(options({ servers: 1 }));
  assert.equal(text((await cluster.write(bytes('a'))).message), '1');
  assert.equal(text((await cluster.read(bytes('all'))).message), 'a');
});

test('many writes in one turn are applied in the order of their submission', async () => {
  await using cluster = await MiniCluster.start(options());
  const leader = await cluster.waitForLeader();
  const texts = Array.from({ length: 500 }, (_, i) => `w${i}`);
  const replies = await Promise.all(
    texts.map((one) => leader.submitClientRequest(cluster.request(bytes(one)))),
  );
  assert.deepEqual(
    replies.map((reply) => text(reply.message)),
    texts.map((_, i) => String(i + 1)),
  );
  await cluster.waitForAgreement();
  for (const machine of machines(cluster)) assert.deepEqual(machine.applied, texts);
});
