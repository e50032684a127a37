import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from './eventually.js';
import { MiniCluster } from './mini-cluster.js';
import { bytes, RecordingStateMachine, text } from './recording-state-machine.js';

test('with raft.server.log.use.memory a group works, and no log file is written', async () => {
  await using cluster = await MiniCluster.start({
    servers: 3,
    stateMachine: () => new RecordingStateMachine(),
    options: { 'raft.server.log.use.memory': true },
  });
  for (const one of ['a', 'b', 'c']) await cluster.write(bytes(one));
  assert.equal(text((await cluster.read(bytes('all'))).message), 'a,b,c');
  const names = readdirSync(cluster.directory, { recursive: true, encoding: 'utf8' });
  assert.ok(names.some((name) => name.endsWith('raft-meta')));
  assert.deepEqual(
    names.filter((name) => /log_(inprogress_)?\d/.test(name)),
    [],
  );
});

test('a restarted member with a log in memory gets everything from the leader again', async () => {
  await using cluster = await MiniCluster.start({
    servers: 3,
    stateMachine: () => new RecordingStateMachine(),
    options: { 'raft.server.log.use.memory': true },
  });
  for (const one of ['a', 'b', 'c']) await cluster.write(bytes(one));
  const leader = await cluster.waitForLeader();
  const follower = ['n0', 'n1', 'n2'].find((id) => cluster.division(id) !== leader);
  assert.ok(follower !== undefined);
  await cluster.restartServer(follower);
  const machine = cluster.division(follower).stateMachine as RecordingStateMachine;
  await eventually('the member has all', () => machine.applied.length === 3);
  assert.deepEqual(machine.applied, ['a', 'b', 'c']);
});
