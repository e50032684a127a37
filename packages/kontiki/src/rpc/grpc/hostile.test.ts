import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { call, ECHO, open, TEST_LIMITS } from '../conformance/harness.test-support.js';
import { StatusCode } from '../transport.js';
import { FRAME, PREFACE, RawServer, rawFrame } from './raw-peer.test-support.js';
import type { GrpcServer } from './server.js';
import { GrpcTransport } from './transport.js';

const transport = new GrpcTransport();
/** Node 20 leaves a connection open after a protocol error; pings find it. */
const LIMITS = { ...TEST_LIMITS, keepaliveTimeMs: 80, keepaliveTimeoutMs: 80 };
const OPTIONS = { tls: undefined, limits: LIMITS };

/** Runs `attack` against a server, which must serve others afterwards. */
async function survive(attack: (server: GrpcServer) => Promise<void>): Promise<void> {
  const server = transport.createServer({ host: '127.0.0.1', port: 0, ...OPTIONS });
  server.addService(ECHO);
  await server.listen();
  const channel = transport.createChannel(`127.0.0.1:${server.address.port}`, OPTIONS);
  try {
    await attack(server);
    const { status } = await call(channel, '/test.Echo/unary', Buffer.from('x'));
    assert.equal(status.code, StatusCode.OK, status.message);
  } finally {
    channel.close(0);
    await server.close(0);
  }
}

/** Sends bytes and waits until the server hangs up. */
async function sendRaw(port: number, ...chunks: readonly (string | Uint8Array)[]): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  await once(socket, 'connect');
  for (const chunk of chunks) socket.write(chunk);
  await once(socket, 'close');
}

const SETTINGS = rawFrame(FRAME.SETTINGS, 0, 0, new Uint8Array(0));

describe('a server outlives a peer that sends', () => {
  it('noise instead of the preface', () =>
    survive(({ address }) => sendRaw(address.port, Buffer.alloc(1_000, 0xff))));

  it('noise after the preface', () =>
    survive(({ address }) => sendRaw(address.port, PREFACE, Buffer.alloc(1_000, 0xff))));

  it('a frame larger than allowed', () =>
    survive(({ address }) =>
      sendRaw(address.port, PREFACE, SETTINGS, rawFrame(FRAME.DATA, 0, 1, new Uint8Array(100_000))),
    ));

  it('header blocks that are no HPACK', () =>
    survive(({ address }) =>
      sendRaw(
        address.port,
        PREFACE,
        SETTINGS,
        rawFrame(FRAME.HEADERS, 5, 1, new Uint8Array(50).fill(0xff)),
      ),
    ));

  it('header lists without end', () =>
    survive(async ({ address }) => {
      const channel = transport.createChannel(`127.0.0.1:${address.port}`, OPTIONS);
      const metadata = Object.fromEntries(
        Array.from({ length: 60 }, (_, i) => [`name-${i}`, 'x'.repeat(5_000)]),
      );
      const { status } = await call(channel, '/test.Echo/unary', Buffer.from('x'), { metadata });
      assert.notEqual(status.code, StatusCode.OK);
      channel.close(0);
    }));

  it('announcements of large messages on many streams, without sending them', () =>
    survive(async ({ address }) => {
      const session = connectHttp2(`http://127.0.0.1:${address.port}`);
      session.on('error', () => undefined);
      const before = process.memoryUsage().rss;
      const headers = {
        ':method': 'POST',
        ':path': '/test.Echo/stream',
        'content-type': 'application/grpc',
      };
      for (let i = 0; i < 400; i++) {
        const stream = session.request(headers, { endStream: false });
        stream.on('error', () => undefined);
        stream.write(Buffer.from([0, 0, 0x0f, 0, 0, 1])); // 983,040 bytes are to come, one came
      }
      await new Promise((resolve) => session.ping(resolve));
      assert.ok(process.memoryUsage().rss - before < 150_000_000);
      session.destroy();
    }));

  it('connections that are cut at every stage', () =>
    survive(async ({ address }) => {
      const bytes = Buffer.concat([Buffer.from(PREFACE), SETTINGS, SETTINGS.subarray(0, 4)]);
      for (let length = 0; length <= bytes.length; length += 3) {
        const socket = connect(address.port, '127.0.0.1');
        socket.on('error', () => undefined);
        await once(socket, 'connect');
        socket.write(bytes.subarray(0, length));
        await sleep(1);
        socket.resetAndDestroy();
        await once(socket, 'close');
      }
    }));
});

describe('a client outlives a peer that sends', () => {
  for (const [what, bytes] of [
    ['noise', Buffer.alloc(1_000, 0xff)],
    ['header blocks that are no HPACK', rawFrame(FRAME.HEADERS, 4, 1, Buffer.alloc(50, 0xff))],
    ['an error GOAWAY', rawFrame(FRAME.GOAWAY, 0, 0, Buffer.from([0, 0, 0, 0, 0, 0, 0, 11]))],
    ['a reset', rawFrame(FRAME.RST_STREAM, 0, 1, Buffer.from([0, 0, 0, 2]))],
    ['data before headers', rawFrame(FRAME.DATA, 0, 1, Buffer.from([0, 0, 0, 0, 0]))],
  ] as const) {
    it(`${what} on an open stream`, async () => {
      const server = new RawServer();
      const channel = transport.createChannel(`127.0.0.1:${await server.listen()}`, OPTIONS);
      const { stream, listener } = open(channel, '/a.B/c');
      stream.send(Buffer.from('x'));
      await server.until(() => server.frames.some((frame) => frame.type === FRAME.DATA));
      server.sockets[0]?.write(bytes);
      const status = await listener.ended();
      assert.ok(
        status.code === StatusCode.UNAVAILABLE || status.code === StatusCode.INTERNAL,
        `${status.code} ${status.message}`,
      );
      assert.ok(status.message.length > 10);
      channel.close(0);
      server.close();
    });
  }
});
