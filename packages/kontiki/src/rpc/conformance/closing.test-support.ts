import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ListenError } from '../listen-error.js';
import { StatusCode } from '../transport.js';
import {
  bytes,
  call,
  capture,
  ECHO,
  OK,
  open,
  TEST_LIMITS,
  type TransportHarness,
  text,
  withServer,
} from './harness.test-support.js';

export function describeClosing(harness: TransportHarness): void {
  describe('closing', () => {
    it('of a server lets open streams finish and refuses new ones', async () => {
      const { path, service, listener: atServer, stream: serverSide } = capture();
      await withServer(harness, service, async ({ server, channel }) => {
        const { stream, listener } = open(channel, path);
        stream.send(bytes('before'));
        const serverStream = await serverSide;
        const closed = server.close(10_000);
        const refused = await call(channel, '/test.Echo/unary', bytes('x'));
        assert.equal(refused.status.code, StatusCode.UNAVAILABLE);
        stream.send(bytes('after'));
        await atServer.until(() => atServer.messages.length === 2);
        serverStream.send(bytes('bye'));
        serverStream.end(OK);
        assert.equal((await listener.ended()).code, StatusCode.OK);
        assert.deepEqual(listener.messages.map(text), ['bye']);
        await closed;
      });
    });

    it('of a server cuts what is still open after the grace period', async () => {
      const { path, service, listener: atServer } = capture();
      await withServer(harness, service, async ({ server, channel }) => {
        const { stream, listener } = open(channel, path);
        stream.send(bytes('x'));
        await atServer.until(() => atServer.messages.length === 1);
        await server.close(20);
        assert.equal((await listener.ended()).code, StatusCode.UNAVAILABLE);
        assert.equal((await atServer.ended()).code, StatusCode.UNAVAILABLE);
      });
    });

    it('of a channel lets open streams finish, fails new calls, and reports', async () => {
      await withServer(harness, ECHO, async ({ channel }) => {
        const { stream, listener } = open(channel, '/test.Echo/stream');
        stream.send(bytes('one'));
        await listener.until(() => listener.messages.length === 1);
        const done = new Promise<void>((resolve) => channel.close(10_000, resolve));
        assert.equal(channel.state, 'closed');
        const { status } = await call(channel, '/test.Echo/unary', bytes('x'));
        assert.equal(status.code, StatusCode.UNAVAILABLE);
        stream.send(bytes('two'));
        stream.halfClose();
        assert.equal((await listener.ended()).code, StatusCode.OK);
        assert.equal(listener.messages.length, 2);
        await done;
      });
    });

    it('of a channel cuts streams after the grace period', async () => {
      const { path, service, listener: atServer } = capture();
      await withServer(harness, service, async ({ channel }) => {
        const { stream, listener } = open(channel, path);
        stream.send(bytes('x'));
        await atServer.until(() => atServer.messages.length === 1);
        const first = new Promise<void>((resolve) => channel.close(60_000, resolve));
        await new Promise<void>((resolve) => channel.close(10, resolve));
        await first;
        assert.equal((await listener.ended()).code, StatusCode.UNAVAILABLE);
        const code = (await atServer.ended()).code;
        assert.ok(code === StatusCode.UNAVAILABLE || code === StatusCode.CANCELLED);
      });
    });

    it('of a channel that was never used reports, too', async () => {
      await withServer(harness, ECHO, async ({ channel }) => {
        assert.equal(channel.state, 'idle');
        await new Promise<void>((resolve) => channel.close(10_000, resolve));
        assert.equal(channel.state, 'closed');
        await new Promise<void>((resolve) => channel.close(10_000, resolve));
      });
    });

    it('frees the address for the next server, and a used one is refused', async () => {
      const { transport, host } = harness;
      await withServer(harness, ECHO, async ({ server, channel }) => {
        await call(channel, '/test.Echo/unary', bytes('x'));
        const { port } = server.address;
        const options = { host, port, tls: harness.serverTls, limits: TEST_LIMITS };
        await assert.rejects(transport.createServer(options).listen(), (error: Error) => {
          assert.ok(error instanceof ListenError);
          assert.match(error.message, new RegExp(`${port}: address already in use`));
          return true;
        });
        await server.close(0);
        const next = transport.createServer(options);
        next.addService(ECHO);
        await next.listen();
        try {
          const { status } = await call(channel, '/test.Echo/unary', bytes('again'));
          assert.equal(status.code, StatusCode.OK, status.message);
        } finally {
          await next.close(0);
        }
      });
    });
  });
}
