import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ResourceUnavailableException, StreamException } from '../protocol/exceptions.js';
import { ClientId, RaftGroupId } from '../protocol/ids.js';
import type { RaftClientRequest } from '../protocol/requests.js';
import { MessageStreams } from './message-streams.js';

const CLIENT = ClientId.of(new Uint8Array(16).fill(1));

function part(streamId: number, messageId: number, size: number, endOfRequest = false) {
  return {
    clientId: CLIENT,
    groupId: RaftGroupId.parse('0123456789abcdef'),
    message: new Uint8Array(size).fill(messageId),
    type: { kind: 'messageStream', streamId, messageId, endOfRequest },
  } as unknown as RaftClientRequest;
}

test('parts become one write with the last of them', () => {
  const streams = new MessageStreams({ byteLimit: 1000, idleMs: 100 }, () => 0);
  assert.equal(streams.add(part(1, 0, 2)), undefined);
  assert.equal(streams.add(part(1, 1, 1)), undefined);
  assert.throws(() => streams.add(part(1, 3, 1)), StreamException);
  const whole = streams.add(part(1, 2, 1, true));
  assert.deepEqual(whole?.message, Uint8Array.of(0, 0, 1, 2));
  assert.equal(whole?.type.kind, 'write');
});

test('streams that nobody goes on with make room for others', () => {
  let nowMs = 0;
  const streams = new MessageStreams({ byteLimit: 1000, idleMs: 100 }, () => nowMs);
  streams.add(part(1, 0, 700));
  nowMs = 50;
  assert.throws(() => streams.add(part(2, 0, 700)), ResourceUnavailableException);
  nowMs = 100;
  assert.equal(streams.add(part(2, 0, 700)), undefined);
  assert.throws(() => streams.add(part(1, 1, 1, true)), StreamException);
});

test('empty parts are bounded, too', () => {
  const streams = new MessageStreams({ byteLimit: 1000, idleMs: 100 }, () => 0);
  assert.throws(() => {
    for (let i = 0; i < 10; i++) streams.add(part(i, 0, 0));
  }, ResourceUnavailableException);
});
