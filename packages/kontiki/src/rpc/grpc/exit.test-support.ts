/** A process that uses both ends, closes them, and must then end by itself. */
import { createCertificateAuthority } from '../../runtime/certificates.js';
import { call, ECHO, open, TEST_LIMITS } from '../conformance/harness.test-support.js';
import { GrpcTransport } from './transport.js';

const authority = createCertificateAuthority('exit');
const issued = authority.issue({ commonName: 'x', ipAddresses: ['127.0.0.1'] });
const tls = {
  trustCertificates: authority.certificatePem,
  certificateChain: issued.certificatePem,
  privateKey: issued.keyPem,
  mutual: true,
};
const limits = { ...TEST_LIMITS, keepaliveTimeMs: 60_000, keepaliveTimeoutMs: 60_000 };
const transport = new GrpcTransport();
const server = transport.createServer({ host: '127.0.0.1', port: 0, tls, limits });
server.addService(ECHO);
await server.listen();
const channel = transport.createChannel(`127.0.0.1:${server.address.port}`, { tls, limits });
const request = Buffer.from('x');
const first = await call(channel, '/test.Echo/unary', request, { timeoutMs: 60_000 });
const { stream, listener } = open(channel, '/test.Echo/stream', { timeoutMs: 60_000 });
stream.send(request);
stream.halfClose();
const second = await listener.ended();
await new Promise<void>((resolve) => channel.close(60_000, resolve));
await server.close(60_000);
const other = transport.createChannel(`127.0.0.1:${server.address.port}`, { tls, limits });
const third = await call(other, '/test.Echo/unary', request, { timeoutMs: 60_000 });
other.close(60_000);
process.send?.({ codes: [first.status.code, second.code, third.status.code] });
