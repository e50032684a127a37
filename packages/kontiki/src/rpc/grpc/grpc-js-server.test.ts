import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as grpc from '@grpc/grpc-js';
import { call, open, TEST_LIMITS } from '../conformance/harness.test-support.js';
import { type RpcChannel, StatusCode } from '../transport.js';
import {
  type PeerStream,
  type PeerUnary,
  STREAM_PATH,
  startPeerServer,
  UNARY_PATH,
} from './grpc-js.test-support.js';
import { GrpcTransport } from './transport.js';

const LARGE = 67_108_864;
const LIMITS = {
  ...TEST_LIMITS,
  maxInboundMessageBytes: LARGE,
  maxOutboundMessageBytes: LARGE,
  flowControlWindowBytes: 1_048_576,
};

async function withPeer(
  handlers: { unary?: PeerUnary; stream?: PeerStream },
  body: (channel: RpcChannel, server: grpc.Server) => Promise<void>,
): Promise<void> {
  const { server, port } = await startPeerServer(handlers);
  const options = { tls: undefined, limits: LIMITS };
  const channel = new GrpcTransport().createChannel(`127.0.0.1:${port}`, options);
  try {
    await body(channel, server);
  } finally {
    channel.close(0);
    server.forceShutdown();
  }
}

describe('our client at a grpc-js server', () => {
  it('makes unary calls, also of 64 MiB', async () => {
    await withPeer({}, async (channel) => {
      for (const size of [0, 5, LARGE]) {
        const request = Buffer.alloc(size, 7);
        const { status, reply } = await call(channel, UNARY_PATH, request);
        assert.equal(status.code, StatusCode.OK, status.message);
        assert.ok(reply !== undefined && Buffer.compare(reply, request) === 0);
      }
    });
  });

  it('sends metadata and deadline, and reads headers-only failures with metadata', async () => {
    let seen: grpc.Metadata | undefined;
    let deadline: grpc.Deadline = 0;
    const unary: PeerUnary = (request, reply) => {
      seen = request.metadata;
      deadline = request.getDeadline();
      const metadata = new grpc.Metadata();
      metadata.set('exception-type', 'java.io.IOException');
      metadata.set('exception-object-bin', Buffer.from([0xac, 0xed, 0, 5]));
      const details = 'zwölf % \n';
      reply({ code: grpc.status.INTERNAL, details, metadata, name: 'x', message: 'y' });
    };
    await withPeer({ unary }, async (channel) => {
      const before = Date.now();
      const { status } = await call(channel, UNARY_PATH, Buffer.from('x'), {
        timeoutMs: 10_000,
        metadata: { 'my-text': 'a, b', 'my-bin': Uint8Array.of(1, 2, 255, 254) },
      });
      assert.deepEqual(seen?.get('my-text'), ['a, b']);
      assert.deepEqual(seen?.get('my-bin'), [Buffer.from([1, 2, 255, 254])]);
      assert.ok(Math.abs(Number(deadline) - before - 10_000) < 1_000, `deadline ${deadline}`);
      assert.equal(status.code, StatusCode.INTERNAL);
      assert.equal(status.message, 'zwölf % \n');
      assert.equal(status.metadata['exception-type'], 'java.io.IOException');
      assert.deepEqual(status.metadata['exception-object-bin'], Uint8Array.of(0xac, 0xed, 0, 5));
    });
  });

  it('takes trailers of 30 KB', async () => {
    const unary: PeerUnary = (_request, reply) => {
      const metadata = new grpc.Metadata();
      metadata.set('stack-bin', Buffer.alloc(22_000, 3));
      reply({ code: 13, details: 'big', metadata, name: 'x', message: 'y' });
    };
    await withPeer({ unary }, async (channel) => {
      const { status } = await call(channel, UNARY_PATH, Buffer.from('x'));
      assert.equal(status.message, 'big');
      assert.equal((status.metadata['stack-bin'] as Uint8Array).length, 22_000);
    });
  });

  it('refuses a reply above its limit', async () => {
    const unary: PeerUnary = (_request, reply) => reply(null, Buffer.alloc(LARGE + 1));
    await withPeer({ unary }, async (channel) => {
      const { status } = await call(channel, UNARY_PATH, Buffer.from('x'));
      assert.equal(status.code, StatusCode.RESOURCE_EXHAUSTED);
    });
  });

  it('exchanges messages on a stream, half-closes and reads the end', async () => {
    await withPeer({}, async (channel) => {
      const { stream, listener } = open(channel, STREAM_PATH);
      for (let i = 0; i < 3_000; i++) stream.send(Buffer.alloc(i, i));
      stream.halfClose();
      assert.equal((await listener.ended()).code, StatusCode.OK);
      assert.equal(listener.messages.length, 3_000);
      assert.ok(listener.messages.every((message, i) => message.length === i));
    });
  });

  it('is cancelled at the server', async () => {
    let told: () => void = () => undefined;
    const cancelled = new Promise<void>((resolve) => {
      told = resolve;
    });
    const stream: PeerStream = (peer) => {
      peer.on('data', (message: Buffer) => peer.write(message));
      peer.on('error', () => undefined);
      peer.on('cancelled', told);
    };
    await withPeer({ stream }, async (channel) => {
      const ours = open(channel, STREAM_PATH);
      ours.stream.send(Buffer.from('x'));
      await ours.listener.until(() => ours.listener.messages.length === 1);
      ours.stream.cancel();
      assert.equal((await ours.listener.ended()).code, StatusCode.CANCELLED);
      await cancelled;
    });
  });

  it('hears a deadline, and a status that the server sends before the half-close', async () => {
    const stream: PeerStream = (peer) => {
      peer.on('error', () => undefined);
      peer.once('data', () => {
        peer.emit('error', Object.assign(new Error('x'), { code: 9, details: 'not now' }));
      });
    };
    await withPeer({ stream, unary: () => undefined }, async (channel) => {
      const late = await call(channel, UNARY_PATH, Buffer.from('x'), { timeoutMs: 50 });
      assert.equal(late.status.code, StatusCode.DEADLINE_EXCEEDED);
      const ours = open(channel, STREAM_PATH);
      ours.stream.send(Buffer.from('x'));
      const status = await ours.listener.ended();
      assert.equal(status.code, StatusCode.FAILED_PRECONDITION);
      assert.equal(status.message, 'not now');
    });
  });

  it('finishes open streams after GOAWAY and makes new ones on a new connection', async () => {
    await withPeer({}, async (channel, server) => {
      const { stream, listener } = open(channel, STREAM_PATH);
      stream.send(Buffer.from('one'));
      await listener.until(() => listener.messages.length === 1);
      const port = Number(channel.target.split(':')[1]);
      const gone = new Promise((resolve) => server.tryShutdown(resolve));
      const next = await startAt(port);
      try {
        await waitForReconnect(channel, () => next.calls);
        stream.send(Buffer.from('two'));
        await listener.until(() => listener.messages.length === 2);
        stream.halfClose();
        assert.equal((await listener.ended()).code, StatusCode.OK);
        await gone;
      } finally {
        next.server.forceShutdown();
      }
    });
  });

  it('runs 1,000 streams at a time', async () => {
    await withPeer({}, async (channel) => {
      const all = Array.from({ length: 1_000 }, () => open(channel, STREAM_PATH));
      for (const { stream } of all) stream.send(Buffer.from('x'));
      await Promise.all(
        all.map(({ listener }) => listener.until(() => listener.messages.length > 0)),
      );
      for (const { stream } of all) stream.halfClose();
      const ends = await Promise.all(all.map(({ listener }) => listener.ended()));
      assert.ok(ends.every((status) => status.code === StatusCode.OK));
    });
  });
});

/** A second server on the port of one that shuts down. */
async function startAt(port: number) {
  const server = new grpc.Server();
  const next = { server, calls: 0 };
  const bytesOf = (value: Buffer) => value;
  server.addService(
    {
      unary: {
        path: UNARY_PATH,
        requestStream: false,
        responseStream: false,
        requestSerialize: bytesOf,
        requestDeserialize: bytesOf,
        responseSerialize: bytesOf,
        responseDeserialize: bytesOf,
      },
    },
    {
      unary: ((request, reply) => {
        next.calls++;
        reply(null, request.request);
      }) as PeerUnary,
    },
  );
  await new Promise<void>((resolve, reject) => {
    const credentials = grpc.ServerCredentials.createInsecure();
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error) =>
      error === null ? resolve() : reject(error),
    );
  });
  return next;
}

async function waitForReconnect(channel: RpcChannel, calls: () => number): Promise<void> {
  const { status } = await call(channel, UNARY_PATH, Buffer.from('x'));
  assert.equal(status.code, StatusCode.OK, status.message);
  assert.equal(calls(), 1);
}
