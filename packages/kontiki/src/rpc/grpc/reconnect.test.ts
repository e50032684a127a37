import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Runtime } from '../../common/runtime.js';
import { nodeRuntime } from '../../runtime/node-runtime.js';
import { call, open, TEST_LIMITS, text } from '../conformance/harness.test-support.js';
import { StatusCode } from '../transport.js';
import { FRAME, RawServer, rawFrame } from './raw-peer.test-support.js';
import { GrpcTransport } from './transport.js';

/** Node's runtime with a clock and random numbers that the test sets. */
function steppedRuntime() {
  const base = nodeRuntime();
  const state = { nowMs: 1_000, random: 0x8000_0000 };
  const runtime: Runtime = {
    timers: base.timers,
    clock: { ...base.clock, nowMs: () => state.nowMs },
    random: { nextUint32: () => state.random, bytes: (count) => new Uint8Array(count) },
  };
  return { runtime, state };
}

/** A port where nobody listens. */
async function freePort(): Promise<number> {
  const server = new RawServer();
  const port = await server.listen();
  server.close();
  return port;
}

/** A header block of literal fields without Huffman coding (RFC 7541, 6.2.2). */
function headerBlock(fields: Readonly<Record<string, string>>): Buffer {
  const parts: Buffer[] = [];
  for (const [name, value] of Object.entries(fields)) {
    parts.push(Buffer.of(0, name.length), Buffer.from(name));
    parts.push(Buffer.of(value.length), Buffer.from(value));
  }
  return Buffer.concat(parts);
}

describe('the pause after failed connection attempts', () => {
  it('grows by a factor up to its limit, and starts again after resetBackoff', async () => {
    const { runtime, state } = steppedRuntime();
    const limits = { ...TEST_LIMITS, reconnectBackoffMinMs: 100, reconnectBackoffMaxMs: 300 };
    const target = `127.0.0.1:${await freePort()}`;
    const channel = new GrpcTransport({ runtime }).createChannel(target, {
      tls: undefined,
      limits,
    });
    const attempt = async () => {
      const { status } = await call(channel, '/a.B/c', Buffer.from('x'));
      assert.equal(status.code, StatusCode.UNAVAILABLE);
      assert.equal(channel.state, 'backoff');
    };
    for (const pauseMs of [100, 160, 256, 300, 300]) {
      await attempt();
      state.nowMs += pauseMs - 0.001;
      assert.equal(channel.state, 'backoff', `before ${pauseMs}`);
      state.nowMs += 0.002;
      assert.equal(channel.state, 'idle', `after ${pauseMs}`);
    }
    channel.resetBackoff();
    await attempt();
    state.nowMs += 100.001;
    assert.equal(channel.state, 'idle');
    channel.close(0);
  });

  it('is spread by a fifth to both sides', async () => {
    for (const [random, pauseMs] of [
      [0, 80],
      [0xffff_ffff, 120],
    ] as const) {
      const { runtime, state } = steppedRuntime();
      state.random = random;
      const target = `127.0.0.1:${await freePort()}`;
      const options = { tls: undefined, limits: TEST_LIMITS };
      const channel = new GrpcTransport({ runtime }).createChannel(target, options);
      await call(channel, '/a.B/c', Buffer.from('x'));
      state.nowMs += pauseMs - 0.001;
      assert.equal(channel.state, 'backoff');
      state.nowMs += 0.002;
      assert.equal(channel.state, 'idle');
      channel.close(0);
    }
  });
});

describe('a GOAWAY in two steps, as Java sends it (spec: wire-grpc 3.1)', () => {
  it('gets its PING answered, open streams finish, new ones take a new connection', async () => {
    const server = new RawServer();
    const target = `127.0.0.1:${await server.listen()}`;
    const options = { tls: undefined, limits: TEST_LIMITS };
    const channel = new GrpcTransport().createChannel(target, options);
    try {
      const { stream, listener } = open(channel, '/a.B/c');
      stream.send(Buffer.from('x'));
      await server.until(() => server.frames.some((frame) => frame.type === FRAME.DATA));
      const id = server.frames.find((frame) => frame.type === FRAME.DATA)?.stream ?? 0;
      const socket = server.sockets[0];
      const last = Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
      socket?.write(
        rawFrame(FRAME.GOAWAY, 0, 0, Buffer.concat([last, Buffer.from('app_requested')])),
      );
      const ping = Buffer.from('0000097acef00100', 'hex');
      socket?.write(rawFrame(FRAME.PING, 0, 0, ping));
      const acknowledged = () =>
        server.frames.some((frame) => frame.type === FRAME.PING && frame.payload.equals(ping));
      await server.until(acknowledged);

      const other = open(channel, '/a.B/c');
      await server.until(() => server.sockets.length === 2);
      const status = { ':status': '200', 'content-type': 'application/grpc' };
      socket?.write(rawFrame(FRAME.HEADERS, 4, id, headerBlock(status)));
      socket?.write(rawFrame(FRAME.DATA, 0, id, Buffer.from([0, 0, 0, 0, 2, 104, 105])));
      socket?.write(rawFrame(FRAME.HEADERS, 5, id, headerBlock({ 'grpc-status': '0' })));
      assert.equal((await listener.ended()).code, StatusCode.OK);
      assert.deepEqual(listener.messages.map(text), ['hi']);
      assert.equal(other.listener.statuses.length, 0);
      other.stream.cancel();
    } finally {
      channel.close(0);
      server.close();
    }
  });
});
