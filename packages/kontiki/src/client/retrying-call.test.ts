import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TimeDuration } from '../config/time-duration.js';
import {
  AlreadyClosedException,
  GroupMismatchException,
  NotReplicatedException,
  RaftRetryFailureException,
  StateMachineException,
  TimeoutIOException,
} from '../protocol/exceptions.js';
import { ExceptionDependentRetry } from '../protocol/retry/exception-dependent.js';
import {
  NO_RETRY,
  RETRY_FOREVER_NO_SLEEP,
  RetryLimited,
} from '../protocol/retry/simple-policies.js';
import {
  echo,
  failure,
  leaderNotReady,
  notLeader,
  notReplicated,
  stateMachineFailure,
  success,
  withCluster,
} from './fake-server.test-support.js';

const decoder = new TextDecoder();
const textOf = (bytes: Uint8Array | undefined) => decoder.decode(bytes);

describe('the unordered path (spec: client 8)', () => {
  it('uses one stream for all requests and takes replies in any order', () =>
    withCluster({}, async ({ client, servers: [n0], runtime }) => {
      const [a, b] = ['a', 'b'].map((message) => client.async().sendReadOnlyUnordered(message));
      await runtime.settle();
      const [first, second] = n0.stream.requests;
      assert.ok(first !== undefined && second !== undefined);
      assert.equal(first.seqNum, undefined);
      n0.stream.reply(second, success('B'));
      assert.equal(textOf((await b)?.message), 'B');
      n0.stream.reply(first, success('A'));
      assert.equal(textOf((await a)?.message), 'A');
      assert.equal(n0.streams.length, 1);
    }));

  it('repeats all pending requests elsewhere when the server turns out not to lead', () =>
    withCluster({}, async ({ client, servers: [n0, n1], runtime }) => {
      echo(n1);
      const replies = ['a', 'b'].map((message) => client.async().sendReadOnlyUnordered(message));
      await runtime.settle();
      const callIds = n0.stream.requests.map((request) => request.callId);
      n0.stream.reply(n0.stream.requests[1] as never, notLeader(n1.peer));
      await Promise.all(replies);
      assert.deepEqual(n1.stream.requests.map((request) => request.callId).sort(), callIds.sort());
    }));

  it('repeats a request whose stream another request has broken', () =>
    withCluster({}, async ({ client, servers, runtime }) => {
      const [n0] = servers;
      const reply = client.async().sendReadOnlyUnordered('a');
      await runtime.settle();
      for (const server of servers) echo(server);
      n0.streams[0]?.end(failure('StreamException', 'other'));
      assert.equal(textOf((await runtime.until(reply)).message), 'a');
    }));

  it('waits longer for a watch than for a read', () =>
    withCluster({ retryPolicy: NO_RETRY }, async ({ client, runtime }) => {
      const watch = client.async().watch(5, 1);
      const read = client.async().sendReadOnlyUnordered('a', { serverId: 'n1' });
      const outcomes: string[] = [];
      watch.catch(() => outcomes.push('watch'));
      read.catch(() => outcomes.push('read'));
      await runtime.advance(3_000);
      assert.deepEqual(outcomes, ['read']);
      await runtime.advance(7_000);
      assert.deepEqual(outcomes, ['read', 'watch']);
      await assert.rejects(watch, TimeoutIOException);
    }));

  it('delivers NotReplicated with the commit infos of the reply', () =>
    withCluster({}, async ({ client, servers: [n0] }) => {
      n0.onRequest = (stream, request) =>
        stream.reply(request, notReplicated(Number(request.callId), 5));
      await assert.rejects(client.async().watch(5, 1), (error: Error) => {
        assert.ok(error instanceof NotReplicatedException);
        assert.equal(error.logIndex, 5);
        assert.deepEqual(
          error.commitInfos.map((info) => info.commitIndex),
          [7],
        );
        return true;
      });
    }));

  it('ends with GroupMismatchException at once', () =>
    withCluster({}, async ({ client, servers: [n0] }) => {
      n0.onRequest = (stream) => stream.end(failure('GroupMismatchException', 'not found'));
      await assert.rejects(client.async().sendReadOnlyUnordered('a'), GroupMismatchException);
    }));
});

describe('the blocking path (spec: client 5)', () => {
  it('uses a stream for each request and half-closes it', () =>
    withCluster({}, async ({ client, servers: [n0], runtime }) => {
      const replies = ['a', 'b'].map((message) => client.io().send(message));
      await runtime.settle();
      assert.deepEqual(
        n0.streams.map((stream) => stream.contents),
        [['a'], ['b']],
      );
      for (const stream of n0.streams) stream.reply(stream.requests[0] as never, success('ok'));
      assert.equal((await Promise.all(replies)).length, 2);
    }));

  it('gives a state machine exception back without another attempt', () =>
    withCluster({}, async ({ client, servers: [n0] }) => {
      n0.onRequest = (stream, request) => stream.reply(request, stateMachineFailure('no'));
      await assert.rejects(client.io().send('a'), (error: Error) => {
        assert.ok(error instanceof StateMachineException);
        assert.equal(error.causeMessage, 'no');
        return true;
      });
      assert.equal(n0.streams.length, 1);
    }));

  it('repeats LeaderNotReady at the same server and follows NotLeader, with one call id', () =>
    withCluster({}, async ({ client, servers: [n0, n1], runtime }) => {
      let asked = 0;
      n0.onRequest = (stream, request) =>
        stream.reply(request, asked++ === 0 ? leaderNotReady('n0') : notLeader(n1.peer));
      echo(n1);
      await runtime.until(client.io().send('a'));
      const callIds = [...n0.streams, ...n1.streams].map((stream) => stream.requests[0]?.callId);
      assert.equal(new Set(callIds).size, 1);
      assert.deepEqual([n0.streams.length, n1.streams.length], [2, 1]);
    }));

  it('hides leader exceptions in replies from the policy', () => {
    const retryPolicy = new ExceptionDependentRetry({
      defaultPolicy: RETRY_FOREVER_NO_SLEEP,
      policies: [[NotReplicatedException, NO_RETRY]],
    });
    return withCluster({ retryPolicy }, async ({ client, servers: [n0], runtime }) => {
      n0.onRequest = (stream, request) => stream.reply(request, notReplicated(1, 5));
      await assert.rejects(runtime.until(client.io().watch(5, 1)), NotReplicatedException);
    });
  });

  it('gives up when the policy says so', () => {
    const retryPolicy = new RetryLimited(2, TimeDuration.of(5, 'ms'));
    return withCluster({ retryPolicy }, async ({ client, runtime }) => {
      await assert.rejects(runtime.until(client.io().send('a')), RaftRetryFailureException);
    });
  });

  it('cancels the attempt of an aborted call', () =>
    withCluster({}, async ({ client, servers: [n0], runtime }) => {
      const controller = new AbortController();
      const reply = client.io().send('a', { signal: controller.signal });
      await runtime.settle();
      controller.abort();
      await assert.rejects(reply, { name: 'AbortError' });
      await runtime.settle();
      assert.ok(n0.stream.ended !== undefined || n0.stream.halfClosed);
      assert.equal(runtime.timerCount, 0);
    }));

  it('is refused when its signal is aborted already', () =>
    withCluster({}, async ({ client, servers: [n0], runtime }) => {
      const signal = AbortSignal.abort();
      await assert.rejects(client.io().send('a', { signal }), { name: 'AbortError' });
      await runtime.settle();
      assert.equal(n0.streams.length, 0);
    }));

  it('is rejected when the client is closed, during an attempt and between attempts', () =>
    withCluster({ down: ['n1'] }, async ({ client, runtime }) => {
      const waiting = client.io().sendReadOnly('a', { serverId: 'n0' });
      const pausing = client.io().sendReadOnly('b', { serverId: 'n1' });
      pausing.catch(() => undefined);
      await runtime.advance(50);
      void client.close();
      await assert.rejects(waiting, AlreadyClosedException);
      await assert.rejects(pausing, AlreadyClosedException);
    }));

  it('numbers all calls of all clients of a process from one counter', () =>
    withCluster({}, async ({ client, servers: [n0] }) => {
      echo(n0);
      await client.io().send('a');
      await client.async().send('b');
      await client.async().sendReadOnlyUnordered('c');
      assert.deepEqual(
        n0.streams.map((stream) => stream.requests[0]?.callId),
        [1, 2, 3],
      );
    }));
});
