import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RaftOptions } from '../config/registry.js';
import { FilesStateMachine } from './files-state-machine.js';
import { MiniCluster } from './mini-cluster.js';
import {
  machineOf,
  PURGING,
  snapshotAndPurge,
  textsUpTo,
  writeTexts,
} from './snapshot-helpers.test-support.js';

/** A group of one server with 100 texts, whose log was purged after a snapshot. */
async function purgedGroup(options: RaftOptions = {}): Promise<MiniCluster> {
  const cluster = await MiniCluster.start({
    servers: 1,
    stateMachine: () => new FilesStateMachine(),
    options: { ...PURGING, 'raft.server.leaderelection.member.majority-add': true, ...options },
  });
  await writeTexts(cluster, 0, 100);
  await snapshotAndPurge(cluster, 'n0');
  return cluster;
}

test('a new member and a new listener are brought up by snapshot', async () => {
  await using cluster = await purgedGroup();
  const member = await cluster.startNewServer();
  const listener = await cluster.startNewServer();
  const reply = await cluster.admin('n0', {
    kind: 'setConfiguration',
    peers: [...cluster.peers.filter((peer) => peer.id === 'n0'), member],
    listeners: [listener],
    mode: 'SET_UNCONDITIONALLY',
    currentPeers: [],
    currentListeners: [],
  });
  assert.equal(reply.exception, undefined);
  await writeTexts(cluster, 100, 110);
  await cluster.waitForAgreement();
  for (const { id } of [member, listener]) {
    const machine = machineOf(cluster, id) as FilesStateMachine;
    assert.deepEqual(machine.applied, textsUpTo(110));
    assert.deepEqual(machine.calls, ['pause', 'reinitialize']);
  }
  await cluster.restartServer(member.id);
  await cluster.waitForAgreement();
  assert.equal(cluster.division(member.id).configuration?.cur.voters.length, 2);
});

test('a new member whose state machine finds no snapshot gets the entries', async () => {
  await using cluster = await MiniCluster.start({
    servers: 1,
    stateMachine: () => new FilesStateMachine(),
    options: {
      ...PURGING,
      'raft.server.leaderelection.member.majority-add': true,
      'raft.server.log.appender.install.snapshot.enabled': false,
    },
  });
  await writeTexts(cluster, 0, 8);
  const member = await cluster.startNewServer();
  const reply = await cluster.admin('n0', {
    kind: 'setConfiguration',
    peers: [...cluster.peers.filter((peer) => peer.id === 'n0'), member],
    listeners: [],
    mode: 'SET_UNCONDITIONALLY',
    currentPeers: [],
    currentListeners: [],
  });
  assert.equal(reply.exception, undefined);
  await cluster.waitForAgreement();
  assert.deepEqual(machineOf(cluster, member.id).applied, textsUpTo(8));
});
