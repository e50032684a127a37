import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { capture, ECHO, OK, TEST_LIMITS } from '../conformance/harness.test-support.js';
import {
  type RpcStatus,
  type ServerCall,
  type ServiceDefinition,
  StatusCode,
} from '../transport.js';
import { PeerClient, peerStatus } from './grpc-js.test-support.js';
import type { GrpcServer } from './server.js';
import { GrpcTransport } from './transport.js';

const LARGE = 67_108_864;
const ECHO_UNARY = '/test.Echo/unary';
const ECHO_STREAM = '/test.Echo/stream';

async function withPeer(
  service: ServiceDefinition,
  body: (client: PeerClient, server: GrpcServer) => Promise<void>,
): Promise<void> {
  const limits = {
    ...TEST_LIMITS,
    maxInboundMessageBytes: LARGE,
    maxOutboundMessageBytes: LARGE,
    flowControlWindowBytes: 1_048_576,
  };
  const options = { host: '127.0.0.1', port: 0, tls: undefined, limits };
  const server = new GrpcTransport().createServer(options);
  server.addService(service);
  await server.listen();
  const client = new PeerClient(server.address.port);
  try {
    await body(client, server);
  } finally {
    client.close();
    await server.close(0);
  }
}

describe('a grpc-js client at our server', () => {
  it('makes unary calls, also of 64 MiB', async () => {
    await withPeer(ECHO, async (client) => {
      for (const size of [0, 5, LARGE]) {
        const request = Buffer.alloc(size, 7);
        const { error, reply } = await client.unary(request, {}, ECHO_UNARY);
        assert.equal(error, null);
        assert.ok(reply !== undefined && Buffer.compare(reply, request) === 0);
      }
    });
  });

  it('reads a failure with its trailers', async () => {
    const failure: RpcStatus = {
      code: StatusCode.INTERNAL,
      message: 'grün\n%',
      metadata: { 'exception-type': 'a.B', 'thing-bin': Uint8Array.of(9, 8, 7, 255) },
    };
    const unary = { [ECHO_UNARY]: (request: ServerCall) => request.fail(failure) };
    await withPeer({ unary }, async (client) => {
      const { error } = await client.unary(Buffer.from('x'), {}, ECHO_UNARY);
      assert.equal(error?.code, 13);
      assert.equal(error?.details, 'grün\n%');
      assert.deepEqual(error?.metadata.get('exception-type'), ['a.B']);
      assert.deepEqual(error?.metadata.get('thing-bin'), [Buffer.from([9, 8, 7, 255])]);
    });
  });

  it('gets UNIMPLEMENTED for unknown methods, RESOURCE_EXHAUSTED above the limit', async () => {
    await withPeer(ECHO, async (client) => {
      const unknown = await client.unary(Buffer.from('x'), {}, '/test.Echo/nothing');
      assert.equal(unknown.error?.code, 12);
      const large = await client.unary(Buffer.alloc(LARGE + 1), {}, ECHO_UNARY);
      assert.equal(large.error?.code, 8);
    });
  });

  it('exceeds its deadline; the handler is told', async () => {
    let told: () => void = () => undefined;
    const cancelled = new Promise<void>((resolve) => {
      told = resolve;
    });
    let timeoutMs: number | undefined;
    const handler = (request: ServerCall) => {
      timeoutMs = request.timeoutMs;
      request.onCancel(told);
    };
    await withPeer({ unary: { [ECHO_UNARY]: handler } }, async (client) => {
      const options = { deadline: Date.now() + 150 };
      const { error } = await client.unary(Buffer.from('x'), options, ECHO_UNARY);
      assert.equal(error?.code, 4);
      await cancelled;
      assert.ok(timeoutMs !== undefined && timeoutMs > 0 && timeoutMs <= 150);
    });
  });

  it('exchanges messages on a stream, half-closes and reads the end', async () => {
    await withPeer(ECHO, async (client) => {
      const call = client.stream(ECHO_STREAM);
      const sizes: number[] = [];
      call.on('data', (message: Buffer) => sizes.push(message.length));
      for (let i = 0; i < 3_000; i++) call.write(Buffer.alloc(i, i));
      call.end();
      assert.equal((await peerStatus(call)).code, 0);
      assert.deepEqual(
        sizes,
        Array.from({ length: 3_000 }, (_, i) => i),
      );
    });
  });

  it('cancels a stream; the server hears CANCELLED', async () => {
    const { path, service, listener } = capture();
    await withPeer(service, async (client) => {
      const call = client.stream(path);
      call.on('data', () => undefined);
      call.write(Buffer.from('x'));
      await listener.until(() => listener.messages.length === 1);
      call.cancel();
      assert.equal((await listener.ended()).code, StatusCode.CANCELLED);
    });
  });

  it('hears the end of a stream that it has not half-closed', async () => {
    const { path, service, listener, stream } = capture();
    await withPeer(service, async (client) => {
      const call = client.stream(path);
      call.on('data', () => undefined);
      call.write(Buffer.from('x'));
      await listener.until(() => listener.messages.length === 1);
      const server = await stream;
      server.send(Buffer.from('y'));
      server.end({ code: StatusCode.ABORTED, message: 'stop', metadata: {} });
      const status = await peerStatus(call);
      assert.equal(status.code, 10);
      assert.equal(status.details, 'stop');
    });
  });

  it('finishes its stream after GOAWAY', async () => {
    const { path, service, listener, stream } = capture();
    await withPeer(service, async (client, server) => {
      const call = client.stream(path);
      const replies: string[] = [];
      call.on('data', (message: Buffer) => replies.push(message.toString()));
      call.write(Buffer.from('x'));
      await listener.until(() => listener.messages.length === 1);
      const closed = server.close(10_000);
      call.write(Buffer.from('y'));
      await listener.until(() => listener.messages.length === 2);
      (await stream).send(Buffer.from('bye'));
      (await stream).end(OK);
      assert.equal((await peerStatus(call)).code, 0);
      assert.deepEqual(replies, ['bye']);
      await closed;
    });
  });

  it('runs 1,000 streams at a time', async () => {
    await withPeer(ECHO, async (client) => {
      const calls = Array.from({ length: 1_000 }, () => client.stream(ECHO_STREAM));
      const ends = calls.map((call) => peerStatus(call));
      const firsts = calls.map(
        (call) => new Promise((resolve) => call.once('data', (message) => resolve(message))),
      );
      for (const call of calls) call.write(Buffer.from('x'));
      await Promise.all(firsts);
      for (const call of calls) call.end();
      assert.ok((await Promise.all(ends)).every((status) => status.code === 0));
    });
  });
});
