import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { StatusCode } from '../transport.js';
import {
  bytes,
  capture,
  ECHO,
  OK,
  open,
  type TransportHarness,
  text,
  withServer,
} from './harness.test-support.js';

const STREAM = '/test.Echo/stream';

export function describeStreams(harness: TransportHarness): void {
  describe('streams', () => {
    it('deliver everything in order, both ways, and then the end', async () => {
      await withServer(harness, ECHO, async ({ channel }) => {
        const { stream, listener } = open(channel, STREAM);
        for (let i = 0; i < 2_000; i++) stream.send(bytes(`message ${i}`));
        stream.halfClose();
        const status = await listener.ended();
        assert.equal(status.code, StatusCode.OK);
        assert.deepEqual(
          listener.messages.map(text),
          Array.from({ length: 2_000 }, (_, i) => `message ${i}`),
        );
      });
    });

    it('deliver messages of all sizes unchanged', async () => {
      await withServer(harness, ECHO, async ({ channel }) => {
        const { stream, listener } = open(channel, STREAM);
        const sizes = [0, 1, 4, 5, 1_023, 1_024, 1_025, 16_379, 16_384, 65_531, 65_536, 999_999, 3];
        for (const size of sizes) stream.send(pattern(size));
        stream.halfClose();
        await listener.ended();
        assert.deepEqual(
          listener.messages.map((message) => message.length),
          sizes,
        );
        for (const message of listener.messages) {
          assert.deepEqual(Buffer.from(message), Buffer.from(pattern(message.length)));
        }
      });
    });

    it('let the server answer after the half-close', async () => {
      const { path, service, listener: atServer, stream: serverSide } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { stream, listener } = open(channel, path);
        stream.send(bytes('question'));
        stream.halfClose();
        const server = await serverSide;
        await atServer.until(() => atServer.halfCloses === 1);
        assert.deepEqual(atServer.messages.map(text), ['question']);
        server.send(bytes('late answer'));
        server.end(OK);
        assert.equal((await listener.ended()).code, StatusCode.OK);
        assert.deepEqual(listener.messages.map(text), ['late answer']);
        assert.equal(atServer.statuses.length, 0, 'no onEnd after own end');
      });
    });

    it('can be ended by the server with an error before any message', async () => {
      const { path, service, stream: serverSide } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { listener } = open(channel, path);
        const metadata = { 'call-id': '7' };
        (await serverSide).end({ code: StatusCode.ABORTED, message: 'no', metadata });
        const status = await listener.ended();
        assert.equal(status.code, StatusCode.ABORTED);
        assert.equal(status.message, 'no');
        assert.deepEqual({ ...status.metadata }, metadata);
      });
    });

    it('can be ended by the server while the client still sends', async () => {
      const { path, service, listener: atServer, stream: serverSide } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { stream, listener } = open(channel, path);
        stream.send(bytes('one'));
        await atServer.until(() => atServer.messages.length === 1);
        const server = await serverSide;
        server.send(bytes('last words'));
        server.end({ code: StatusCode.INTERNAL, message: 'enough', metadata: {} });
        stream.send(bytes('two'));
        const status = await listener.ended();
        assert.equal(status.code, StatusCode.INTERNAL);
        assert.equal(status.message, 'enough');
        assert.deepEqual(listener.messages.map(text), ['last words']);
        assert.equal(stream.send(bytes('after the end')), true, 'ignored');
        assert.equal(atServer.messages.length, 1);
      });
    });

    it('can be cancelled: both ends hear CANCELLED, once, in a fresh turn', async () => {
      const { path, service, listener: atServer } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { stream, listener } = open(channel, path);
        stream.send(bytes('one'));
        await atServer.until(() => atServer.messages.length === 1);
        stream.cancel();
        assert.equal(listener.statuses.length, 0);
        stream.cancel();
        assert.equal((await listener.ended()).code, StatusCode.CANCELLED);
        assert.equal((await atServer.ended()).code, StatusCode.CANCELLED);
        assert.equal(listener.statuses.length, 1);
        assert.equal(atServer.statuses.length, 1);
        assert.equal(atServer.halfCloses, 0);
      });
    });

    it('cancelled before there is a connection never reach the server', async () => {
      const { path, service, listener: atServer } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { stream, listener } = open(channel, path);
        stream.send(bytes('x'));
        stream.cancel();
        assert.equal((await listener.ended()).code, StatusCode.CANCELLED);
        const other = open(channel, path);
        other.stream.send(bytes('y'));
        await atServer.until(() => atServer.messages.length > 0);
        assert.deepEqual(atServer.messages.map(text), ['y']);
        other.stream.cancel();
        await other.listener.ended();
      });
    });

    it('end with DEADLINE_EXCEEDED at the client when time is up', async () => {
      const { path, service, listener: atServer } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { stream, listener } = open(channel, path, { timeoutMs: 100 });
        stream.send(bytes('x'));
        assert.equal((await listener.ended()).code, StatusCode.DEADLINE_EXCEEDED);
        const code = (await atServer.ended()).code;
        assert.ok(code === StatusCode.CANCELLED || code === StatusCode.DEADLINE_EXCEEDED);
      });
    });

    it('end when a listener throws, at the client and at the server', async () => {
      const { path, service, listener: atServer } = capture();
      await withServer(harness, service, async ({ channel }) => {
        atServer.onEvent = () => {
          if (atServer.messages.length > 0 && atServer.statuses.length === 0) throw new Error('x');
        };
        const { stream, listener } = open(channel, path);
        stream.send(bytes('x'));
        const status = await listener.ended();
        assert.equal(status.code, StatusCode.UNKNOWN);
      });
      await withServer(harness, ECHO, async ({ channel }) => {
        const { stream, listener } = open(channel, STREAM);
        listener.onEvent = () => {
          if (listener.statuses.length === 0) throw new Error('mine');
        };
        stream.send(bytes('x'));
        const status = await listener.ended();
        assert.equal(status.code, StatusCode.INTERNAL);
        assert.equal(status.cause?.message, 'mine');
      });
    });

    it('of one channel run a thousand at a time', async () => {
      await withServer(harness, ECHO, async ({ channel }) => {
        const streams = Array.from({ length: 1_000 }, () => open(channel, STREAM));
        streams.forEach(({ stream }, i) => {
          stream.send(bytes(`stream ${i}`));
        });
        await Promise.all(
          streams.map(({ listener }) => listener.until(() => listener.messages.length === 1)),
        );
        for (const { stream } of streams) stream.halfClose();
        const ends = await Promise.all(streams.map(({ listener }) => listener.ended()));
        assert.ok(ends.every((status) => status.code === StatusCode.OK));
        streams.forEach(({ listener }, i) => {
          assert.equal(text(listener.messages[0]), `stream ${i}`);
        });
      });
    });
  });
}

function pattern(size: number): Uint8Array {
  const message = new Uint8Array(size);
  for (let i = 0; i < size; i++) message[i] = (i * 31 + size) & 0xff;
  return message;
}
