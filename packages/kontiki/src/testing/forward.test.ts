import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientRequestToWire } from '../proto/convert/index.js';
import { encodeClientRequest } from '../proto/wire/index.js';
import { MiniCluster } from './mini-cluster.js';
import { bytes, RecordingStateMachine, text } from './recording-state-machine.js';

test('a forwarded write that is tried again at the next leader is applied once', async () => {
  await using cluster = await MiniCluster.start({
    stateMachine: () => new RecordingStateMachine(),
  });
  const inner = encodeClientRequest(clientRequestToWire(cluster.request(bytes('a'))));
  const request = cluster.request(inner, {}, { kind: 'forward' });
  const leader = await cluster.waitForLeader();
  const first = await leader.submitClientRequest(request);
  assert.equal(text(first.message), '1');
  await cluster.stopServer(cluster.idOf(leader));
  const next = await cluster.waitForLeader();
  const again = await next.submitClientRequest(request);
  assert.equal(again.callId, request.callId);
  assert.equal(again.logIndex, first.logIndex);
  assert.equal(text(again.message), '1');
  assert.deepEqual((next.stateMachine as RecordingStateMachine).applied, ['a']);
});
