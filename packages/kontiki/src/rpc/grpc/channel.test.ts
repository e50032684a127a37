import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { InvalidArgumentError } from '../../common/errors.js';
import { call, capture, ECHO, open, TEST_LIMITS } from '../conformance/harness.test-support.js';
import { StatusCode } from '../transport.js';
import { FRAME, RawServer } from './raw-peer.test-support.js';
import type { GrpcServer } from './server.js';
import { GrpcTransport } from './transport.js';

const UNARY = '/test.Echo/unary';
const transport = new GrpcTransport();

async function startServer(port = 0): Promise<GrpcServer> {
  const options = { host: '127.0.0.1', port, tls: undefined, limits: TEST_LIMITS };
  const server = transport.createServer(options);
  server.addService(ECHO);
  await server.listen();
  return server;
}

function openChannel(port: number, limits = {}) {
  return transport.createChannel(`127.0.0.1:${port}`, {
    tls: undefined,
    limits: { ...TEST_LIMITS, ...limits },
  });
}

/** A TCP relay whose connections can be counted and cut. */
async function startRelay(toPort: number) {
  const sockets: Socket[] = [];
  const server: Server = createServer((near) => {
    const far = connect(toPort, '127.0.0.1');
    sockets.push(near);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('error', () => undefined);
      from.on('close', () => to.destroy());
      from.pipe(to);
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    sockets,
    port: (server.address() as { port: number }).port,
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

describe('a channel', () => {
  it('refuses a target that is no address', () => {
    for (const target of ['', 'host', 'host:', ':80', 'host:0', 'host:70000', '::1:80', 'a b:1']) {
      assert.throws(
        () => transport.createChannel(target, { tls: undefined, limits: TEST_LIMITS }),
        InvalidArgumentError,
        target,
      );
    }
  });

  it('goes from idle over connecting to ready, and to backoff after a failed attempt', async () => {
    const server = await startServer();
    const channel = openChannel(server.address.port, {
      reconnectBackoffMinMs: 60_000,
      reconnectBackoffMaxMs: 60_000,
    });
    assert.equal(channel.state, 'idle');
    const first = call(channel, UNARY, Buffer.from('x'));
    assert.equal(channel.state, 'connecting');
    assert.equal((await first).status.code, StatusCode.OK);
    assert.equal(channel.state, 'ready');
    const { port } = server.address;
    await server.close(0);
    const second = await call(channel, UNARY, Buffer.from('x'));
    assert.equal(second.status.code, StatusCode.UNAVAILABLE);
    assert.match(second.status.message, /connect failed: .*ECONNREFUSED/);
    assert.equal(channel.state, 'backoff');
    const third = await call(channel, UNARY, Buffer.from('x'));
    assert.match(third.status.message, /ECONNREFUSED.*\(in back-off\)/);
    const next = await startServer(port);
    channel.resetBackoff();
    assert.equal(channel.state, 'idle');
    assert.equal((await call(channel, UNARY, Buffer.from('x'))).status.code, StatusCode.OK);
    channel.close(0);
    await next.close(0);
  });

  it('replaces a lost connection at once, without back-off', async () => {
    const server = await startServer();
    const relay = await startRelay(server.address.port);
    const channel = openChannel(relay.port, { reconnectBackoffMinMs: 60_000 });
    for (let round = 1; round <= 5; round++) {
      const { stream, listener } = open(channel, '/test.Echo/stream');
      stream.send(Buffer.from('x'));
      await listener.until(() => listener.messages.length === 1);
      assert.equal(relay.sockets.length, round);
      relay.sockets.at(-1)?.destroy();
      const status = await listener.ended();
      assert.equal(status.code, StatusCode.UNAVAILABLE);
      assert.ok(status.cause instanceof Error);
      assert.ok(status.message.startsWith(channel.target), status.message);
    }
    channel.close(0);
    relay.close();
    await server.close(0);
  });

  it('uses one connection for streams and another for calls', async () => {
    const server = await startServer();
    const relay = await startRelay(server.address.port);
    const channel = openChannel(relay.port);
    await call(channel, UNARY, Buffer.from('x'));
    await call(channel, UNARY, Buffer.from('x'));
    assert.equal(relay.sockets.length, 1);
    for (let i = 0; i < 2; i++) {
      const { stream, listener } = open(channel, '/test.Echo/stream');
      stream.halfClose();
      await listener.ended();
    }
    assert.equal(relay.sockets.length, 2);
    channel.close(0);
    relay.close();
    await server.close(0);
  });

  it('outlives 3,000 cancelled calls, and its streams do not notice', async () => {
    const server = await startServer();
    server.addService({ unary: { '/test.Silent/unary': () => undefined } });
    const channel = openChannel(server.address.port);
    const { stream, listener } = open(channel, '/test.Echo/stream');
    stream.send(Buffer.from('x'));
    await listener.until(() => listener.messages.length === 1);
    for (let round = 0; round < 30; round++) {
      const ends = Array.from({ length: 100 }, () => {
        return new Promise<number>((resolve) => {
          const pending = channel.call('/test.Silent/unary', Buffer.from('x'), {}, (status) =>
            resolve(status.code),
          );
          setImmediate(() => setImmediate(() => pending.cancel()));
        });
      });
      for (const code of await Promise.all(ends)) {
        assert.ok(code === StatusCode.CANCELLED || code === StatusCode.UNAVAILABLE);
      }
    }
    await sleep(20);
    assert.equal((await call(channel, UNARY, Buffer.from('x'))).status.code, StatusCode.OK);
    stream.send(Buffer.from('y'));
    await listener.until(() => listener.messages.length === 2);
    channel.close(0);
    await server.close(0);
  });

  it('drops a connection whose pings are not answered, and keeps one whose are', async () => {
    const limits = { keepaliveTimeMs: 40, keepaliveTimeoutMs: 60 };
    const silent = new RawServer();
    const channel = openChannel(await silent.listen(), limits);
    const { listener } = open(channel, '/a.B/c');
    const status = await listener.ended();
    assert.equal(status.code, StatusCode.UNAVAILABLE);
    assert.match(status.message, /no answer to a ping within 60 ms/);
    assert.ok(silent.frames.some((frame) => frame.type === FRAME.PING));
    channel.close(0);
    silent.close();

    const { path, service, listener: atServer } = capture();
    const server = await startServer();
    server.addService(service);
    const answered = openChannel(server.address.port, limits);
    const { stream, listener: living } = open(answered, path);
    await sleep(400);
    assert.equal(living.statuses.length, 0);
    stream.send(Buffer.from('x'));
    await atServer.until(() => atServer.messages.length === 1);
    answered.close(0);
    await server.close(0);
  });

  it('lets the process end by itself after everything was closed', async () => {
    const script = fileURLToPath(new URL('./exit.test-support.js', import.meta.url));
    const child = fork(script, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
    let report: unknown;
    child.on('message', (message) => {
      report = message;
      child.disconnect();
    });
    const [code] = await once(child, 'exit');
    assert.equal(code, 0);
    assert.deepEqual(report, { codes: [0, 0, 14] });
  });
});
