import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StateMachineException } from '../protocol/exceptions.js';
import { MiniCluster } from './mini-cluster.js';
import { RecordingStateMachine } from './recording-state-machine.js';

test('H-29: a write of any size near the limit is carried out or refused', async () => {
  await using cluster = await MiniCluster.start({
    servers: 1,
    stateMachine: () => new RecordingStateMachine(),
    options: { 'raft.server.log.appender.buffer.byte-limit': '4KB' },
  });
  const leader = await cluster.waitForLeader();
  let accepted = 0;
  for (let size = 4096 - 100; size <= 4100; size++) {
    const reply = await leader.submitClientRequest(cluster.request(new Uint8Array(size)));
    if (reply.success) accepted = size;
    else assert.ok(reply.exception instanceof StateMachineException, String(reply.exception));
  }
  assert.ok(accepted > 4096 - 100 && accepted < 4096);
  assert.equal(leader.lifeCycleState, 'RUNNING');
});
