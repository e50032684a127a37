import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AlreadyClosedException,
  RaftIOException,
  StateMachineException,
} from '../protocol/exceptions.js';
import { echo, stateMachineFailure, success, withCluster } from './fake-server.test-support.js';
import { RaftOutputStream } from './output-stream.js';

describe('message streams (spec: client 11)', () => {
  it('send a message in numbered parts and end it with an empty one', () =>
    withCluster({}, async ({ client, servers: [n0] }) => {
      n0.onRequest = (stream, request) =>
        stream.reply(request, success(request.endOfRequest ? 'written' : ''));
      const options = { submessageBytes: 2 };
      const reply = await client.messageStream().streamAsync('abcde', options);
      assert.equal(new TextDecoder().decode(reply.message), 'written');
      assert.deepEqual(
        n0.stream.requests.map((r) => [r.streamId, r.messageId, r.endOfRequest]),
        [
          [1, 0, false],
          [1, 1, false],
          [1, 2, false],
          [1, 3, true],
        ],
      );
      assert.deepEqual(n0.stream.contents, ['ab', 'cd', 'e', '']);
      assert.equal(n0.stream.requests[3]?.content, undefined);
    }));

  it('count their ids by client, and take nothing after the end', () =>
    withCluster({}, async ({ client, servers: [n0] }) => {
      echo(n0);
      await client.messageStream().stream().closeAsync();
      const stream = client.messageStream().stream();
      await stream.sendAsync('a', { endOfRequest: true });
      assert.equal(n0.stream.requests[1]?.streamId, 2);
      await assert.rejects(stream.sendAsync('b'), AlreadyClosedException);
    }));
});

describe('RaftOutputStream (spec: client 10)', () => {
  it('sends full buffers, the rest on flush, and closes the client', () =>
    withCluster({}, async ({ client, servers: [n0], runtime }) => {
      echo(n0);
      const stream = new RaftOutputStream(client, 4);
      stream.write(new TextEncoder().encode('abcdefghij'));
      await runtime.settle();
      assert.deepEqual(n0.stream.contents, ['abcd', 'efgh']);
      await stream.flush();
      assert.deepEqual(n0.stream.contents, ['abcd', 'efgh', 'ij']);
      await runtime.until(stream.close());
      await assert.rejects(client.async().send('x'), AlreadyClosedException);
      assert.throws(() => stream.write(new Uint8Array(1)), AlreadyClosedException);
      await assert.rejects(stream.flush(), /was closed/);
    }));

  it('tells the position at which a flush failed', () =>
    withCluster({}, async ({ client, servers: [n0] }) => {
      n0.onRequest = (stream, request) => stream.reply(request, stateMachineFailure('full'));
      const stream = new RaftOutputStream(client, 4);
      stream.write(new TextEncoder().encode('abcdef'));
      await assert.rejects(stream.flush(), (error: Error) => {
        assert.ok(error instanceof RaftIOException);
        assert.equal(error.message, 'Failed to flush at position 6');
        assert.ok(error.cause instanceof StateMachineException);
        return true;
      });
    }));
});
