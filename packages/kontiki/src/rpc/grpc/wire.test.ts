import assert from 'node:assert/strict';
import { connect, createServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { describe, it } from 'node:test';
import { call, ECHO, open, TEST_LIMITS } from '../conformance/harness.test-support.js';
import { StatusCode } from '../transport.js';
import { FRAME, RawServer } from './raw-peer.test-support.js';
import { GrpcTransport } from './transport.js';

const transport = new GrpcTransport();
const OPTIONS = { tls: undefined, limits: TEST_LIMITS };

describe('what goes over the wire', () => {
  it('are request headers in the order of Java (spec: wire-grpc 3.1)', async () => {
    const server = createServer();
    const seen = new Promise<string[]>((resolve) => {
      server.on(
        'stream',
        (stream: ServerHttp2Stream, _headers: unknown, _flags: unknown, raw: string[]) => {
          stream.on('error', () => undefined);
          stream.respond({
            ':status': 200,
            'content-type': 'application/grpc',
            'grpc-status': '0',
          });
          stream.end();
          resolve(raw);
        },
      );
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const target = `127.0.0.1:${(server.address() as AddressInfo).port}`;
    const channel = transport.createChannel(target, OPTIONS);
    void call(channel, '/a.B/c', new Uint8Array(1), { timeoutMs: 3_000, metadata: { m: 'v' } });
    const raw = await seen;
    channel.close(0);
    server.close();
    assert.deepEqual(
      raw.filter((_, index) => index % 2 === 0),
      [
        ':authority',
        ':path',
        ':method',
        ':scheme',
        'content-type',
        'te',
        'user-agent',
        'grpc-accept-encoding',
        'm',
        'grpc-timeout',
      ],
    );
    assert.equal(raw[1], target);
    const timeout = Number(/^(\d+)u$/.exec(raw[19] ?? '')?.[1]);
    assert.ok(timeout > 2_000_000 && timeout <= 3_000_000, `grpc-timeout ${raw[19]}`);
  });

  it('are response headers as Java sends them, with the first message only', async () => {
    await withHttp2Client(async (request) => {
      const stream = request('/test.Echo/stream');
      let headers: string[] = [];
      stream.on('response', (received) => {
        headers = Object.keys(received);
      });
      const trailers = new Promise<string[]>((resolve) => {
        stream.on('trailers', (received) => resolve(Object.keys(received)));
      });
      await new Promise((resolve) => setTimeout(resolve, 30));
      assert.deepEqual(headers, [], 'nothing before the first message');
      stream.end(Buffer.from([0, 0, 0, 0, 1, 65]));
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      assert.deepEqual(await trailers, ['grpc-status']);
      assert.deepEqual(headers, [
        ':status',
        'content-type',
        'grpc-encoding',
        'grpc-accept-encoding',
      ]);
      assert.deepEqual(Buffer.concat(chunks), Buffer.from([0, 0, 0, 0, 1, 65]));
    });
  });

  it('is one header block with the status when there is no message', async () => {
    await withHttp2Client(async (request) => {
      const stream = request('/test.Echo/none');
      const [headers, flags] = await new Promise<[Record<string, unknown>, number]>((resolve) => {
        stream.on('response', (received, receivedFlags) => resolve([received, receivedFlags]));
      });
      assert.equal(headers['grpc-status'], '12');
      assert.equal(headers['content-type'], 'application/grpc');
      assert.equal(flags & 1, 1, 'END_STREAM');
      stream.resume();
    });
  });

  it('refuses what is no gRPC request by an HTTP status', async () => {
    await withHttp2Client(async (request) => {
      const statuses = [];
      for (const headers of [{ ':method': 'GET' }, { 'content-type': 'text/plain' }]) {
        const stream = request('/test.Echo/unary', headers);
        stream.resume();
        statuses.push(
          await new Promise((resolve) => stream.on('response', (got) => resolve(got[':status']))),
        );
      }
      assert.deepEqual(statuses, [405, 415]);
    });
  });

  it('answers bad frames with a status: compressed, unknown flag, too long, cut', async () => {
    await withHttp2Client(async (request) => {
      const codes: unknown[] = [];
      for (const bytes of [
        [1, 0, 0, 0, 1, 65],
        [2, 0, 0, 0, 1, 65],
        [0, 0xff, 0xff, 0xff, 0xff],
        [0, 0, 0, 0, 9, 65],
      ]) {
        const stream = request('/test.Echo/stream');
        stream.resume();
        const answered = new Promise((resolve) => {
          stream.on('response', (got) => resolve(got['grpc-status']));
        });
        stream.end(Buffer.from(bytes));
        codes.push(await answered);
      }
      assert.deepEqual(codes, ['12', '13', '8', '13']);
    });
  });

  it('answers a malformed grpc-timeout with INTERNAL', async () => {
    await withHttp2Client(async (request) => {
      const stream = request('/test.Echo/stream', { 'grpc-timeout': '10 s' });
      stream.resume();
      const headers = await new Promise<Record<string, unknown>>((resolve) => {
        stream.on('response', (received) => resolve(received));
      });
      assert.equal(headers['grpc-status'], '13');
    });
  });

  it('announces windows and header list, and cancels without END_STREAM', async () => {
    const server = new RawServer();
    const port = await server.listen();
    const channel = transport.createChannel(`127.0.0.1:${port}`, {
      tls: undefined,
      limits: { ...TEST_LIMITS, flowControlWindowBytes: 1_048_576, maxHeaderListBytes: 8_192 },
    });
    try {
      const { stream, listener } = open(channel, '/a.B/c');
      stream.send(Buffer.from('x'));
      await server.until(() => server.frames.some((frame) => frame.type === FRAME.DATA));
      stream.cancel();
      assert.equal((await listener.ended()).code, StatusCode.CANCELLED);
      await server.until(() => server.frames.some((frame) => frame.type === FRAME.RST_STREAM));
      const data = server.frames.filter((frame) => frame.type === FRAME.DATA);
      assert.deepEqual(
        data.map((frame) => frame.flags & 1),
        [0],
      );
      const reset = server.frames.find((frame) => frame.type === FRAME.RST_STREAM);
      assert.equal(reset?.payload.readUInt32BE(), 8);
      const settings = server.frames.find((frame) => frame.type === FRAME.SETTINGS);
      const values = new Map<number, number>();
      for (let i = 0; settings !== undefined && i < settings.payload.length; i += 6) {
        values.set(settings.payload.readUInt16BE(i), settings.payload.readUInt32BE(i + 2));
      }
      assert.equal(values.get(2), 0, 'ENABLE_PUSH');
      assert.equal(values.get(4), 1_048_576, 'INITIAL_WINDOW_SIZE');
      assert.ok((values.get(6) ?? 0) >= 65_536, 'MAX_HEADER_LIST_SIZE');
      const update = server.frames.find((frame) => frame.type === FRAME.WINDOW_UPDATE);
      assert.equal(update?.stream, 0);
      assert.equal(update?.payload.readUInt32BE(), 983_041);
    } finally {
      channel.close(0);
      server.close();
    }
  });
});

type Request = (
  path: string,
  headers?: Record<string, string>,
) => import('node:http2').ClientHttp2Stream;

/** A plain HTTP/2 client at our server. */
async function withHttp2Client(body: (request: Request) => Promise<void>): Promise<void> {
  const server = transport.createServer({ host: '127.0.0.1', port: 0, ...OPTIONS });
  server.addService(ECHO);
  await server.listen();
  const session = connect(`http://127.0.0.1:${server.address.port}`);
  session.on('error', () => undefined);
  try {
    await body((path, headers = {}) => {
      const stream = session.request(
        { ':path': path, ':method': 'POST', 'content-type': 'application/grpc', ...headers },
        { endStream: false },
      );
      stream.on('error', () => undefined);
      return stream;
    });
  } finally {
    session.destroy();
    await server.close(0);
  }
}
