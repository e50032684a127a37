import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NotLeaderException } from '../protocol/exceptions.js';
import { createConsoleLogger } from '../runtime/index.js';
import { eventually } from './eventually.js';
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

function applied(cluster: MiniCluster, id: string): string[] {
  return (cluster.division(id).stateMachine as RecordingStateMachine).applied;
}

test('when the leader goes, another takes over and nothing acknowledged is lost', async () => {
  await using cluster = await MiniCluster.start(options());
  for (const one of ['a', 'b', 'c']) await cluster.write(bytes(one));
  const old = cluster.idOf(await cluster.waitForLeader());
  await cluster.stopServer(old);
  const reply = await cluster.write(bytes('d'));
  assert.equal(text(reply.message), '4');
  await cluster.startServer(old);
  await cluster.waitForAgreement();
  for (const peer of cluster.peers)
    assert.deepEqual(applied(cluster, peer.id), ['a', 'b', 'c', 'd']);
});

test('all servers restart with what was written', async () => {
  await using cluster = await MiniCluster.start(options());
  const texts = Array.from({ length: 50 }, (_, i) => `w${i}`);
  const leader = await cluster.waitForLeader();
  await Promise.all(texts.map((one) => leader.submitClientRequest(cluster.request(bytes(one)))));
  await Promise.all(cluster.peers.map((peer) => cluster.stopServer(peer.id)));
  await Promise.all(cluster.peers.map((peer) => cluster.startServer(peer.id)));
  assert.equal(text((await cluster.read(bytes('all'))).message), texts.join(','));
  await cluster.waitForAgreement();
  for (const peer of cluster.peers) assert.deepEqual(applied(cluster, peer.id), texts);
});

test('a follower that was away catches up', async () => {
  await using cluster = await MiniCluster.start(options());
  const leader = await cluster.waitForLeader();
  const away = cluster.peers.find((peer) => peer.id !== cluster.idOf(leader))?.id ?? '';
  await cluster.stopServer(away);
  const texts = Array.from({ length: 200 }, (_, i) => `w${i}`);
  for (const one of texts) await cluster.write(bytes(one));
  await cluster.startServer(away);
  await cluster.waitForAgreement();
  assert.deepEqual(applied(cluster, away), texts);
});

test('a leader that is cut off steps down; what it did not finish is cut', async () => {
  await using cluster = await MiniCluster.start(options());
  await cluster.write(bytes('a'));
  const old = await cluster.waitForLeader();
  const oldId = cluster.idOf(old);
  cluster.isolate(oldId);
  const lost = old.submitClientRequest(cluster.request(bytes('lost')));
  const next = await eventually('the others elect', () =>
    cluster.divisions().find((one) => one !== old && one.isLeaderReady),
  );
  const kept = await next.submitClientRequest(cluster.request(bytes('kept')));
  assert.equal(kept.success, true);
  const reply = await lost;
  assert.equal(reply.success, false);
  assert.ok(reply.exception instanceof NotLeaderException);
  cluster.rejoin(oldId);
  await cluster.waitForAgreement();
  for (const peer of cluster.peers) assert.deepEqual(applied(cluster, peer.id), ['a', 'kept']);
});

test('R-2: a retry gets the same reply, after a failover or restart too', async () => {
  await using cluster = await MiniCluster.start(options());
  const request = cluster.request(bytes('once'));
  const first = await (await cluster.waitForLeader()).submitClientRequest(request);
  const again = await (await cluster.waitForLeader()).submitClientRequest(request);
  assert.deepEqual(again, first);
  await cluster.waitForAgreement();
  await cluster.stopServer(cluster.idOf(await cluster.waitForLeader()));
  const elsewhere = await (await cluster.waitForLeader()).submitClientRequest(request);
  assert.equal(elsewhere.logIndex, first.logIndex);
  assert.deepEqual(elsewhere.message, first.message);
  for (const id of [...cluster.servers.keys()]) await cluster.restartServer(id);
  const later = await (await cluster.waitForLeader()).submitClientRequest(request);
  assert.equal(later.logIndex, first.logIndex);
  await cluster.waitForAgreement();
  for (const id of cluster.servers.keys()) assert.deepEqual(applied(cluster, id), ['once']);
});

test('R-2: a retry of a write under way waits for the same outcome', async () => {
  await using cluster = await MiniCluster.start(options());
  const leader = await cluster.waitForLeader();
  const request = cluster.request(bytes('once'));
  const replies = await Promise.all([
    leader.submitClientRequest(request),
    leader.submitClientRequest(request),
  ]);
  assert.deepEqual(replies[0], replies[1]);
  await cluster.waitForAgreement();
  for (const peer of cluster.peers) assert.deepEqual(applied(cluster, peer.id), ['once']);
});
