import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InvalidArgumentError } from '../common/errors.js';
import { TimeDuration } from '../config/time-duration.js';
import {
  AlreadyClosedException,
  GroupMismatchException,
  IllegalArgumentException,
  RaftRetryFailureException,
  StateMachineException,
  TimeoutIOException,
} from '../protocol/exceptions.js';
import { NO_RETRY, RetryLimited } from '../protocol/retry/simple-policies.js';
import {
  echo,
  failure,
  leaderNotReady,
  notLeader,
  stateMachineFailure,
  success,
  withCluster,
} from './fake-server.test-support.js';

const decoder = new TextDecoder();
const textOf = (bytes: Uint8Array | undefined) => decoder.decode(bytes);

describe('the sliding window of the ordered path (spec: wire-grpc 5.4)', () => {
  it('sends only the first request, marked, until it is answered, then all others in order', () =>
    withCluster({}, async ({ client, servers: [n0], runtime }) => {
      const replies = ['a', 'b', 'c'].map((message) => client.async().send(message));
      await runtime.settle();
      assert.deepEqual(n0.stream.numbers, ['1*']);
      const [first] = n0.stream.requests;
      assert.ok(first !== undefined);
      n0.stream.reply(first, success('x', 4));
      await runtime.settle();
      assert.deepEqual(n0.stream.numbers, ['1*', '2', '3']);
      assert.deepEqual(n0.stream.contents, ['a', 'b', 'c']);
      for (const request of n0.stream.requests.slice(1)) n0.stream.reply(request, success('y'));
      await runtime.settle();
      assert.equal((await replies[0])?.logIndex, 4);
      assert.equal(textOf((await replies[2])?.message), 'y');
    }));

  it('opens with a dummy watch of index 0 that takes the first number', () =>
    withCluster(
      { properties: { 'raft.client.async.experimental.send-dummy-request': 'true' } },
      async ({ client, servers: [n0], runtime }) => {
        const reply = client.async().send('a');
        await runtime.settle();
        assert.deepEqual(n0.stream.numbers, ['1*']);
        assert.deepEqual(n0.stream.contents, ['DUMMY']);
        assert.equal(n0.stream.requests[0]?.type, 6);
        n0.stream.reply(n0.stream.requests[0] as never, {});
        await runtime.settle();
        n0.stream.reply(n0.stream.requests[1] as never, success());
        await reply;
        assert.deepEqual(n0.stream.numbers, ['1*', '2']);
      },
    ));

  it('takes success and NotLeader as answers to the dummy watch, too', () =>
    withCluster(
      { properties: { 'raft.client.async.experimental.send-dummy-request': 'true' } },
      async ({ client, servers: [n0, n1], runtime }) => {
        n0.onRequest = (stream, request) => stream.reply(request, notLeader(n1.peer));
        echo(n1);
        const reply = await client.async().send('a');
        await runtime.settle();
        assert.equal(textOf(reply.message), 'a');
        assert.deepEqual(n1.stream.numbers, ['1*', '2']);
      },
    ));

  it('takes NotLeader for an answer to the dummy watch at a named server', () =>
    withCluster(
      { properties: { 'raft.client.async.experimental.send-dummy-request': 'true' } },
      async ({ client, servers: [n0, n1] }) => {
        n1.onRequest = (stream, request) =>
          stream.reply(request, request.type === 6 ? notLeader(n0.peer) : success('read'));
        const reply = await client.async().sendStaleRead('q', 0, 'n1');
        assert.equal(textOf(reply.message), 'read');
        assert.deepEqual(n1.stream.numbers, ['1*', '2']);
      },
    ));

  it('sends what was in flight to the suggested leader, with the same numbers and ids', () =>
    withCluster({}, async ({ client, servers: [n0, n1], runtime }) => {
      n0.onRequest = (stream, request) => {
        if (request.seqNum === 1) stream.reply(request, success());
      };
      await client.async().send('a');
      const later = ['b', 'c', 'd'].map((message) => client.async().send(message));
      await runtime.settle();
      const callIds = n0.stream.requests.slice(1).map((request) => request.callId);
      echo(n1);
      n0.stream.reply(n0.stream.requests[1] as never, notLeader(n1.peer));
      await Promise.all(later);
      assert.deepEqual(n1.stream.numbers, ['2*', '3', '4']);
      assert.deepEqual(
        n1.stream.requests.map((request) => request.callId),
        callIds,
      );
      assert.equal(client.leaderId, 'n1');
    }));

  it('keeps the mark of a request that was first once', () =>
    withCluster({}, async ({ client, servers: [n0, n1], runtime }) => {
      const replies = ['a', 'b'].map((message) => client.async().send(message));
      await runtime.settle();
      echo(n1);
      n0.stream.reply(n0.stream.requests[0] as never, notLeader(n1.peer));
      await Promise.all(replies);
      assert.deepEqual(n1.stream.numbers, ['1*', '2']);
    }));

  it('reopens a stream at the same server after LeaderNotReady', () =>
    withCluster({}, async ({ client, servers: [n0], runtime }) => {
      let asked = 0;
      n0.onRequest = (stream, request) =>
        stream.reply(request, asked++ === 0 ? leaderNotReady('n0') : success());
      const reply = client.async().send('a');
      await runtime.settle();
      assert.equal((await reply).success, true);
      assert.equal(n0.streams.length, 2);
      assert.equal(client.leaderId, 'n0');
    }));

  it('starts again when the server completes the stream', () =>
    withCluster({}, async ({ client, servers: [n0, n1, n2], runtime }) => {
      const reply = client.async().send('a');
      await runtime.settle();
      for (const server of [n0, n1, n2]) echo(server);
      n0.streams[0]?.end();
      assert.equal(textOf((await reply).message), 'a');
    }));

  it('sends a frozen server no more after the request timeout and goes elsewhere', () =>
    withCluster({}, async ({ client, servers: [n0, n1, n2], runtime }) => {
      echo(n1);
      echo(n2);
      const replies = ['a', 'b'].map((message) => client.async().send(message));
      await runtime.advance(2_999);
      assert.equal(n0.stream.ended, undefined);
      await runtime.advance(1);
      assert.deepEqual(
        (await Promise.all(replies)).map((reply) => textOf(reply.message)),
        ['a', 'b'],
      );
      assert.notEqual(client.leaderId, 'n0');
      assert.ok(n0.stream.ended !== undefined);
    }));

  it('ignores replies that were never asked for', () =>
    withCluster({}, async ({ client, servers: [n0], runtime }) => {
      const reply = client.async().send('a');
      await runtime.settle();
      const request = n0.stream.requests[0];
      assert.ok(request !== undefined);
      n0.stream.reply({ ...request, callId: 999_999 }, success('wrong'));
      n0.stream.reply(request, success('right'));
      assert.equal(textOf((await reply).message), 'right');
    }));

  it('rejects a request with the exception of its reply and goes on', () =>
    withCluster({}, async ({ client, servers: [n0] }) => {
      n0.onRequest = (stream, request) =>
        stream.reply(request, request.seqNum === 1 ? stateMachineFailure('/ by zero') : success());
      await assert.rejects(client.async().send('a'), StateMachineException);
      assert.equal((await client.async().send('b')).success, true);
      assert.equal(n0.streams.length, 1);
    }));

  it('gives each named server a window and a stream of its own', () =>
    withCluster({}, async ({ client, servers: [n0, n1] }) => {
      echo(n0);
      echo(n1);
      await client.async().send('w');
      await client.async().sendStaleRead('r', 0, 'n0');
      await client.async().sendReadOnly('q', { serverId: 'n1' });
      assert.deepEqual(
        n0.streams.map((stream) => stream.numbers),
        [['1*'], ['1*']],
      );
      assert.deepEqual(
        n1.streams.map((stream) => stream.numbers),
        [['1*']],
      );
      assert.equal(n1.stream.requests[0]?.toLeader, false);
    }));

  it('moves to a leader that another path has found once nothing is in flight', () =>
    withCluster({}, async ({ client, servers: [n0, n1], runtime }) => {
      echo(n0);
      await client.async().send('a');
      n0.onRequest = (stream, request) => stream.reply(request, notLeader(n1.peer));
      echo(n1);
      await client.io().send('b');
      await client.async().send('c');
      await runtime.settle();
      assert.deepEqual(n1.streams.find((stream) => stream.kind === 'ordered')?.numbers, ['2*']);
    }));
});

describe('final failures of a window (spec: client 9)', () => {
  it('fails the request with its error and all later ones with AlreadyClosed, for good', () =>
    withCluster({}, async ({ client, servers: [n0], runtime }) => {
      const [a, b] = ['a', 'b'].map((message) => client.async().send(message));
      b?.catch(() => undefined);
      await runtime.settle();
      n0.stream.end(failure('GroupMismatchException', 'n0: group not found.'));
      await assert.rejects(a as Promise<unknown>, GroupMismatchException);
      await assert.rejects(b as Promise<unknown>, AlreadyClosedException);
      await assert.rejects(client.async().send('c'), AlreadyClosedException);
    }));

  it('leaves windows of other targets alone', () =>
    withCluster({}, async ({ client, servers: [n0, n1], runtime }) => {
      const lost = client.async().send('a');
      await runtime.settle();
      n0.stream.end(failure('GroupMismatchException', 'n0: group not found.'));
      await assert.rejects(lost, GroupMismatchException);
      echo(n1);
      assert.equal((await client.async().sendStaleRead('r', 0, 'n1')).success, true);
    }));

  it('rejects with the cause itself when the only attempt failed', () =>
    withCluster({ retryPolicy: NO_RETRY }, async ({ client, runtime }) => {
      const reply = client.async().send('a');
      reply.catch(() => undefined);
      await runtime.advance(3_000);
      await assert.rejects(reply, TimeoutIOException);
    }));

  it('rejects with RaftRetryFailureException after the last of several attempts', () => {
    const retryPolicy = new RetryLimited(2, TimeDuration.of(10, 'ms'));
    return withCluster({ retryPolicy }, async ({ client, runtime }) => {
      const reply = client.async().send('a');
      reply.catch(() => undefined);
      await runtime.advance(7_000);
      await assert.rejects(reply, (error: Error) => {
        assert.ok(error instanceof RaftRetryFailureException);
        assert.match(error.message, /for 2 attempts with RetryLimited/);
        assert.ok(error.cause instanceof TimeoutIOException);
        return true;
      });
    });
  });

  it('refuses a message that is too large without spoiling the window', () =>
    withCluster(
      { properties: { 'raft.grpc.message.size.max': '4KB' } },
      async ({ client, servers: [n0] }) => {
        echo(n0);
        await assert.rejects(client.async().send('x'.repeat(5_000)), IllegalArgumentException);
        assert.equal((await client.async().send('a')).success, true);
      },
    ));

  it('names the known servers when it is asked for another one', () =>
    withCluster({}, async ({ client }) => {
      await assert.rejects(client.async().sendStaleRead('r', 0, 'n9'), (error: Error) => {
        assert.ok(error instanceof InvalidArgumentError);
        assert.match(error.message, /Server n9 not found: peers=\[n0, n1, n2\]/);
        return true;
      });
    }));
});

describe('permits, replied call ids, abort and close', () => {
  it('has no more requests on the way than it has permits', () =>
    withCluster(
      { properties: { 'raft.client.async.outstanding-requests.max': '2' } },
      async ({ client, servers: [n0], runtime }) => {
        const replies = ['a', 'b', 'c', 'd'].map((message) => client.async().send(message));
        await runtime.settle();
        n0.stream.reply(n0.stream.requests[0] as never, success());
        await runtime.settle();
        assert.deepEqual(n0.stream.contents, ['a', 'b', 'c']);
        echo(n0);
        for (const i of [1, 2]) n0.stream.reply(n0.stream.requests[i] as never, success());
        await Promise.all(replies);
        assert.deepEqual(n0.stream.contents, ['a', 'b', 'c', 'd']);
      },
    ));

  it('tells the leader once of the writes that were answered, again only in a retry', () =>
    withCluster({}, async ({ client, servers: [n0, n1], runtime }) => {
      echo(n0);
      await client.async().send('a');
      await client.async().sendReadOnly('r');
      n0.onRequest = () => undefined;
      const replies = [client.async().send('b'), client.async().send('c')];
      await runtime.settle();
      const [a, , b, c] = n0.stream.requests;
      assert.deepEqual(b?.repliedCallIds, []);
      assert.deepEqual(n0.stream.requests[1]?.repliedCallIds, [a?.callId]);
      assert.deepEqual(c?.repliedCallIds, []);
      echo(n1);
      n0.stream.reply(b as never, notLeader(n1.peer));
      await Promise.all(replies);
      await client.async().send('d');
      assert.deepEqual(n1.stream.requests[2]?.repliedCallIds, [b?.callId, c?.callId]);
    }));

  it('rejects an aborted request at once and keeps its place in the order', () =>
    withCluster({}, async ({ client, servers: [n0], runtime }) => {
      const controller = new AbortController();
      const first = client.async().send('a', { signal: controller.signal });
      const second = client.async().send('b');
      await runtime.settle();
      controller.abort();
      await assert.rejects(first, { name: 'AbortError' });
      n0.stream.reply(n0.stream.requests[0] as never, success());
      await runtime.settle();
      assert.deepEqual(n0.stream.numbers, ['1*', '2']);
      n0.stream.reply(n0.stream.requests[1] as never, success());
      assert.equal((await second).success, true);
    }));

  it('never sends a request that was aborted before it had a permit', () =>
    withCluster(
      { properties: { 'raft.client.async.outstanding-requests.max': '2' } },
      async ({ client, servers: [n0], runtime }) => {
        const controller = new AbortController();
        const replies = ['a', 'b'].map((message) => client.async().send(message));
        const aborted = client.async().send('c', { signal: controller.signal });
        const last = client.async().send('d');
        controller.abort();
        await assert.rejects(aborted, { name: 'AbortError' });
        echo(n0);
        await runtime.settle();
        n0.stream.reply(n0.stream.requests[0] as never, success());
        await Promise.all([...replies, last]);
        assert.deepEqual(n0.stream.contents, ['a', 'b', 'd']);
      },
    ));

  it('rejects everything outstanding when it is closed, and leaves no timer', () =>
    withCluster(
      { properties: { 'raft.client.async.outstanding-requests.max': '2' } },
      async ({ client, runtime }) => {
        const replies = ['a', 'b', 'c', 'd'].map((message) => client.async().send(message));
        await runtime.settle();
        const closing = client.close();
        for (const reply of replies) await assert.rejects(reply, AlreadyClosedException);
        await runtime.settle();
        await closing;
        await assert.rejects(client.async().send('e'), AlreadyClosedException);
        await runtime.advance(1_000);
        assert.equal(runtime.timerCount, 0);
      },
    ));
});

describe('servers that cannot be reached', () => {
  it('are tried again for ever, but not in a busy loop', () =>
    withCluster({ down: ['n0', 'n1', 'n2'] }, async ({ client, runtime, transport }) => {
      let attempts = 0;
      const createChannel = transport.createChannel.bind(transport);
      transport.createChannel = (target, options) => {
        attempts++;
        return createChannel(target, options);
      };
      const reply = client.async().send('a');
      reply.catch(() => undefined);
      await runtime.advance(10_000);
      assert.ok(attempts > 5, `${attempts} attempts`);
      assert.ok(attempts < 60, `${attempts} attempts`);
    }));

  it('are left alone while others can be reached', () =>
    withCluster({ down: ['n0'] }, async ({ client, servers: [, n1, n2], runtime }) => {
      echo(n1);
      echo(n2);
      const reply = client.async().send('a');
      await runtime.settle();
      assert.equal((await reply).success, true);
    }));

  it('are paced when all of them say that they do not lead', () =>
    withCluster({}, async ({ client, servers, runtime }) => {
      for (const server of servers) {
        server.onRequest = (stream, request) => stream.reply(request, notLeader());
      }
      client
        .async()
        .send('a')
        .catch(() => undefined);
      await runtime.advance(1_000);
      const asked = servers.reduce((sum, server) => sum + server.streams.length, 0);
      assert.ok(asked > 10 && asked < 40, `${asked} attempts`);
    }));
});
