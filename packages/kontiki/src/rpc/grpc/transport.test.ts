import { createCertificateAuthority } from '../../runtime/certificates.js';
import { describeTransport } from '../conformance/transport-suite.test-support.js';
import { GrpcTransport } from './transport.js';

describeTransport({
  name: 'gRPC, plain text',
  transport: new GrpcTransport(),
  host: '127.0.0.1',
});

const authority = createCertificateAuthority('conformance');
const issued = authority.issue({ commonName: 'n0', ipAddresses: ['127.0.0.1'] });
const tls = {
  trustCertificates: authority.certificatePem,
  certificateChain: issued.certificatePem,
  privateKey: issued.keyPem,
  mutual: true,
};

describeTransport({
  name: 'gRPC, mutual TLS',
  transport: new GrpcTransport(),
  host: '127.0.0.1',
  serverTls: tls,
  clientTls: tls,
});
