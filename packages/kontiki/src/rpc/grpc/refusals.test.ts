import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { describe, it } from 'node:test';
import { connect as connectTls } from 'node:tls';
import type { Logger } from '../../common/logger.js';
import { createCertificateAuthority } from '../../runtime/certificates.js';
import { call, capture, ECHO, open, TEST_LIMITS } from '../conformance/harness.test-support.js';
import { StatusCode, type TlsOptions } from '../transport.js';
import type { GrpcServer } from './server.js';
import { GrpcTransport } from './transport.js';

const authority = createCertificateAuthority('one');
const stranger = createCertificateAuthority('two');
const issued = authority.issue({
  commonName: 'node 0',
  dnsNames: ['localhost', 'n0.example'],
  ipAddresses: ['127.0.0.1'],
});
const elsewhere = authority.issue({ commonName: 'x', dnsNames: ['other.example'] });
const expired = authority.issue({ commonName: 'x', ipAddresses: ['127.0.0.1'], days: -1 });

const slot = (mutual: boolean, own = issued, trusted = authority): TlsOptions => ({
  trustCertificates: trusted.certificatePem,
  certificateChain: own.certificatePem,
  privateKey: own.keyPem,
  mutual,
});

interface Setup {
  readonly server: GrpcServer;
  readonly target: string;
  readonly warnings: string[];
  /** Resolves when the server logged something. */
  warned(): Promise<void>;
}

async function withServer(
  tls: TlsOptions | undefined,
  body: (setup: Setup) => Promise<void>,
): Promise<void> {
  const warnings: string[] = [];
  let wake: () => void = () => undefined;
  const logger: Logger = {
    isEnabled: () => true,
    log: (level, message) => {
      if (level === 'warn' || level === 'error') warnings.push(message);
      wake();
    },
  };
  const warned = async () => {
    while (warnings.length === 0) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  const options = { host: '127.0.0.1', port: 0, tls, limits: TEST_LIMITS };
  const server = new GrpcTransport({ logger }).createServer(options);
  server.addService(ECHO);
  await server.listen();
  try {
    await body({ server, target: `127.0.0.1:${server.address.port}`, warnings, warned });
  } finally {
    await server.close(0);
  }
}

/** One call on a fresh channel. */
async function callOnce(target: string, tls: TlsOptions | undefined) {
  const channel = new GrpcTransport().createChannel(target, { tls, limits: TEST_LIMITS });
  try {
    return (await call(channel, '/test.Echo/unary', Buffer.from('x'))).status;
  } finally {
    await new Promise<void>((resolve) => channel.close(0, resolve));
  }
}

async function assertRefused(
  serverTls: TlsOptions | undefined,
  clientTls: TlsOptions | undefined,
  atClient: RegExp,
  atServer: RegExp | undefined,
): Promise<void> {
  await withServer(serverTls, async ({ target, warnings, warned }) => {
    const status = await callOnce(target, clientTls);
    assert.equal(status.code, StatusCode.UNAVAILABLE);
    assert.ok(status.message.startsWith(`${target}: `), status.message);
    assert.match(status.message, atClient);
    assert.ok(status.cause instanceof Error);
    if (atServer === undefined) return;
    await warned();
    assert.equal(warnings.length, 1, warnings.join('\n'));
    assert.match(warnings[0] ?? '', atServer);
    assert.match(warnings[0] ?? '', /^connection from 127\.0\.0\.1:\d+ refused: /);
  });
}

describe('a connection that does not fit', () => {
  it('is told to a TLS client at a plain server, and logged there', () =>
    assertRefused(undefined, slot(true), /TLS handshake failed: /, /does not speak HTTP\/2/));

  it('is told to a plain client at a TLS server, and logged there', () =>
    assertRefused(
      slot(true),
      undefined,
      /peer does not speak HTTP\/2: /,
      /TLS handshake failed: /,
    ));

  it('is warned of once while it is tried over and over', () =>
    withServer(slot(true), async ({ target, warnings, warned }) => {
      for (let i = 0; i < 3; i++) await callOnce(target, slot(false));
      await warned();
      assert.equal(warnings.length, 1, warnings.join('\n'));
    }));

  it('is told to a client that does not trust the server', () =>
    assertRefused(
      slot(true),
      slot(true, issued, stranger),
      /TLS handshake failed: .*(unable to verify|self.signed|local issuer)/,
      undefined,
    ));

  it('is told to a client without a certificate where one is demanded', () =>
    assertRefused(
      slot(true),
      slot(false),
      /certificate.required|TLSV13_ALERT_CERTIFICATE_REQUIRED/,
      /TLS handshake failed: peer did not return a certificate/,
    ));

  it('is told to a client whose certificate the server does not trust', () =>
    assertRefused(
      slot(true),
      {
        ...slot(true, stranger.issue({ commonName: 'evil' })),
        trustCertificates: authority.certificatePem,
      },
      /TLS handshake failed: .*(not accept our certificate|unknown.ca)/i,
      /TLS handshake failed: client certificate not accepted \(.+\)/,
    ));

  it('is told to a client when the name or the time of the certificate is wrong', async () => {
    await assertRefused(slot(true, elsewhere), slot(true), /127\.0\.0\.1.*cert/, undefined);
    await assertRefused(slot(true, expired), slot(true), /certificate has expired/, undefined);
  });

  it('is logged when a peer speaks HTTP/1, plain and over TLS, and is closed', async () => {
    for (const tls of [undefined, slot(false)]) {
      await withServer(tls, async ({ server, target, warnings, warned }) => {
        const { port } = server.address;
        const socket: Socket =
          tls === undefined
            ? connect(port, '127.0.0.1')
            : connectTls({ port, host: '127.0.0.1', ca: authority.certificatePem });
        socket.on('error', () => undefined);
        socket.resume();
        socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
        await Promise.all([once(socket, 'close'), warned()]);
        assert.equal(warnings.length, 1, warnings.join('\n'));
        assert.match(warnings[0] ?? '', /does not speak HTTP\/2|did not negotiate h2/);
        assert.equal((await callOnce(target, tls)).code, StatusCode.OK, 'others are served');
      });
    }
  });

  it('is told to a client whose peer speaks HTTP/1, or says nothing', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => undefined);
      socket.once('data', () => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const target = `127.0.0.1:${(server.address() as { port: number }).port}`;
    const status = await callOnce(target, undefined);
    server.close();
    assert.equal(status.code, StatusCode.UNAVAILABLE);
    assert.match(status.message, /peer does not speak HTTP\/2: /);
  });

  it('ends after the connect timeout when the peer is silent', async () => {
    const sockets: Socket[] = [];
    const server = createServer((socket) => sockets.push(socket));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const target = `127.0.0.1:${(server.address() as { port: number }).port}`;
    for (const tls of [undefined, slot(true)]) {
      const limits = { ...TEST_LIMITS, connectTimeoutMs: 50 };
      const channel = new GrpcTransport().createChannel(target, { tls, limits });
      const { status } = await call(channel, '/a.B/c', Buffer.from('x'));
      assert.equal(status.code, StatusCode.UNAVAILABLE);
      assert.match(status.message, /no answer within 50 ms/);
      channel.close(0);
    }
    for (const socket of sockets) socket.destroy();
    server.close();
  });
});

describe('TLS', () => {
  it('tells the server who the client is, and only with mutual TLS', async () => {
    for (const mutual of [true, false]) {
      const { path, service, stream } = capture();
      await withServer(slot(mutual), async ({ server, target }) => {
        server.addService(service);
        const options = { tls: slot(mutual), limits: TEST_LIMITS };
        const channel = new GrpcTransport().createChannel(target, options);
        const { listener } = open(channel, path);
        const { peer } = await stream;
        const names = ['node 0', 'localhost', 'n0.example', '127.0.0.1'];
        assert.deepEqual(peer.certificateNames, mutual ? names : []);
        assert.match(peer.remoteAddress, /^127\.0\.0\.1:\d+$/);
        channel.close(0);
        await listener.ended();
      });
    }
  });

  it('checks the certificate against a host name, too', async () => {
    await withServer(slot(true), async ({ server }) => {
      const status = await callOnce(`localhost:${server.address.port}`, slot(true));
      assert.equal(status.code, StatusCode.OK, status.message);
    });
  });

  it('takes new certificates without a restart; open connections stay', async () => {
    await withServer(slot(true), async ({ server, target }) => {
      const options = { tls: slot(true), limits: TEST_LIMITS };
      const channel = new GrpcTransport().createChannel(target, options);
      const path = '/test.Echo/unary';
      assert.equal((await call(channel, path, Buffer.from('x'))).status.code, StatusCode.OK);
      const own = stranger.issue({ commonName: 'new', ipAddresses: ['127.0.0.1'] });
      server.updateTls(slot(true, own, stranger));
      assert.equal((await call(channel, path, Buffer.from('x'))).status.code, StatusCode.OK);
      assert.equal((await callOnce(target, slot(true))).code, StatusCode.UNAVAILABLE);
      assert.equal((await callOnce(target, slot(true, own, stranger))).code, StatusCode.OK);
      channel.close(0);
    });
  });

  it('refuses incomplete or unreadable slots with a typed error', () => {
    const transport = new GrpcTransport();
    const server = (tls: TlsOptions) => () =>
      transport.createServer({ host: undefined, port: 0, tls, limits: TEST_LIMITS });
    const channel = (tls: TlsOptions) => () =>
      transport.createChannel('localhost:1', { tls, limits: TEST_LIMITS });
    const { certificatePem, keyPem } = issued;
    const code = { code: 'KONTIKI_TLS_CONFIGURATION' };
    assert.throws(server({ mutual: false }), code);
    assert.throws(
      server({ mutual: true, certificateChain: certificatePem, privateKey: keyPem }),
      code,
    );
    assert.throws(server({ ...slot(false), privateKey: 'nonsense' }), code);
    assert.throws(server({ ...slot(true), privateKey: elsewhere.keyPem }), code);
    assert.throws(channel({ mutual: false }), code);
    assert.throws(channel({ mutual: true, trustCertificates: certificatePem }), code);
    assert.throws(channel({ mutual: false, trustCertificates: 'nonsense' }), code);
  });
});
