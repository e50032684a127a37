import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  GroupMismatchException,
  IllegalArgumentException,
  StateMachineException,
} from '../protocol/exceptions.js';
import { RaftGroupId } from '../protocol/ids.js';
import type { TransactionContext } from '../statemachine/types.js';
import { MiniCluster } from '../testing/mini-cluster.js';
import { bytes, RecordingStateMachine } from '../testing/recording-state-machine.js';

class RefusingStateMachine extends RecordingStateMachine {
  override startTransaction(context: TransactionContext): void {
    context.exception = new IllegalArgumentException('refused');
  }
}

function start(): Promise<MiniCluster> {
  return MiniCluster.start({ servers: 1, stateMachine: () => new RefusingStateMachine() });
}

test('an exception that Java knows goes to the client by its Java class', async () => {
  await using cluster = await start();
  const { exception } = await cluster.write(bytes('a'));
  assert.ok(exception instanceof StateMachineException);
  assert.equal(exception.causeClass, 'java.lang.IllegalArgumentException');
  assert.equal(exception.causeMessage, 'refused');
});

test('a stale read that is too far ahead is refused in the words of Java', async () => {
  await using cluster = await start();
  const leader = await cluster.waitForLeader();
  const { exception } = await leader.submitClientRequest(
    cluster.request(bytes('count'), {}, { kind: 'staleRead', minIndex: 1000 }),
  );
  assert.ok(exception instanceof StateMachineException);
  assert.equal(exception.causeClass, 'org.apache.ratis.protocol.exceptions.StaleReadException');
  assert.equal(
    exception.causeMessage,
    `Unable to serve stale-read due to server commit index = ${leader.commitIndex} < min = 1000`,
  );
});

test('the removal of an unknown group is refused in the words of Java', async () => {
  await using cluster = await start();
  const groupId = RaftGroupId.parse('11111111-2222-4333-8444-555555555555');
  await assert.rejects(
    cluster.server('n0').removeGroup(groupId, { deleteDirectory: true, renameDirectory: false }),
    (error) =>
      error instanceof GroupMismatchException &&
      error.message === 'n0: Group group-555555555555 not found.',
  );
});
