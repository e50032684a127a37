import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RaftClient } from '../client/index.js';
import { MiniCluster } from './mini-cluster.js';
import { bytes, RecordingStateMachine, text } from './recording-state-machine.js';

function start(): Promise<MiniCluster> {
  return MiniCluster.start({ stateMachine: () => new RecordingStateMachine() });
}

test('a client writes in order and reads what it wrote', async () => {
  await using cluster = await start();
  await using client = RaftClient.create({ group: cluster.group, transport: cluster.transport() });
  const texts = Array.from({ length: 300 }, (_, i) => `w${i}`);
  const replies = await Promise.all(texts.map((one) => client.async().send(bytes(one))));
  assert.ok(replies.every((reply) => reply.success));
  const read = await client.async().sendReadOnly(bytes('all'));
  assert.equal(text(read.message), texts.join(','));
});

test('a client goes on with the next leader, and every write is applied once', async () => {
  await using cluster = await start();
  await using client = RaftClient.create({ group: cluster.group, transport: cluster.transport() });
  await client.async().send(bytes('first'));
  const texts = Array.from({ length: 200 }, (_, i) => `w${i}`);
  const writes = texts.map((one) => client.async().send(bytes(one)));
  const leader = cluster.idOf(await cluster.waitForLeader());
  await cluster.stopServer(leader);
  const replies = await Promise.all(writes);
  assert.ok(replies.every((reply) => reply.success));
  await cluster.startServer(leader);
  await cluster.waitForAgreement();
  for (const division of cluster.divisions()) {
    const { applied } = division.stateMachine as RecordingStateMachine;
    assert.deepEqual(applied, ['first', ...texts]);
  }
});

test('admin requests tell of the groups and roles', async () => {
  await using cluster = await start();
  await using client = RaftClient.create({ group: cluster.group, transport: cluster.transport() });
  await client.async().send(bytes('a'));
  const leader = cluster.idOf(await cluster.waitForLeader());
  const management = client.groupManagement(leader);
  const list = await management.list();
  assert.deepEqual(
    list.groupIds.map((id) => id.uuid),
    [cluster.group.groupId.uuid],
  );
  const info = await management.info(cluster.group.groupId);
  assert.equal(info.role.leaderInfo?.followers.length, 2);
  assert.equal(info.isRaftStorageHealthy, true);
  assert.equal(info.group.peers.length, 3);
  assert.ok((info.logInfo.committed?.index ?? -1) >= 1);
});
