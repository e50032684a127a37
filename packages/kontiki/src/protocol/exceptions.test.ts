import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as exceptions from './exceptions.js';
import { createPeer } from './peer.js';
import { ReplicationLevel } from './requests.js';

type Simple = new (message: string) => exceptions.RaftException;

/** Classes that take their own arguments. */
const SPECIAL = ['NotLeader', 'LeaderNotReady', 'NotReplicated', 'StateMachine'].map(
  (name) => `${name}Exception`,
);
const SIMPLE = Object.entries(exceptions)
  .filter(([name]) => name !== 'RaftException' && !SPECIAL.includes(name))
  .map(([name, value]) => [name, value as unknown as Simple] as const);

test('names a suggested leader with its address (spec: client 14)', () => {
  const leader = createPeer({ id: 'n1', address: 'h:1' });
  const { NotLeaderException } = exceptions;
  assert.equal(
    new NotLeaderException('n0@group-1', leader, [leader]).message,
    'Server n0@group-1 is not the leader, suggested leader is: n1|h:1',
  );
  assert.equal(
    new NotLeaderException('n0@group-1', undefined, []).message,
    'Server n0@group-1 is not the leader',
  );
});

test('words the messages that others match (spec: client 14)', () => {
  const { LeaderNotReadyException, NotReplicatedException, StateMachineException } = exceptions;
  assert.deepEqual(
    [
      new LeaderNotReadyException('n0@g', 'n0', new Uint8Array(16)),
      new NotReplicatedException(7, ReplicationLevel.ALL_COMMITTED, 9),
      new StateMachineException('n0@g', 'java.lang.Error', 'bad'),
      new StateMachineException(undefined, 'RangeError', 'bad'),
    ].map(({ message }) => message),
    [
      'n0@g is in LEADER state but not ready yet.',
      'Request with call Id 7 and log index 9 is not yet replicated to ALL_COMMITTED',
      'java.lang.Error from Server n0@g: bad',
      'RangeError: bad',
    ],
  );
});

test('lets a leader go on after an error of its state machine only when told so', () => {
  const { StateMachineException } = exceptions;
  assert.equal(new StateMachineException('m', 'E', 'x').leaderShouldStepDown, true);
  const stays = new StateMachineException('m', 'E', 'x', { leaderShouldStepDown: false });
  assert.equal(stays.leaderShouldStepDown, false);
});

test('gives every class a code of its own', () => {
  const codes = SIMPLE.map(([, Class]) => new Class('x').code);
  assert.ok(codes.length > 15);
  assert.equal(new Set(codes).size, codes.length);
});

for (const [name, Class] of SIMPLE) {
  test(`${name} is a RaftException with the name of a Java class`, () => {
    const error = new Class('message');
    assert.ok(error instanceof exceptions.RaftException);
    assert.equal(error.message, 'message');
    assert.equal(error.name, name);
    const ratis = `org.apache.ratis.protocol.exceptions.${name}`;
    assert.ok(error.javaClass === ratis || error.javaClass.startsWith('java.'));
  });
}
