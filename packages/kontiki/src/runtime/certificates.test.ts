import assert from 'node:assert/strict';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { describe, it } from 'node:test';
import { InvalidArgumentError } from '../common/errors.js';
import { createCertificateAuthority } from './certificates.js';

describe('certificate authority', () => {
  const authority = createCertificateAuthority('Tèst');

  it('signs itself and may sign others', () => {
    const certificate = new X509Certificate(authority.certificatePem);
    assert.equal(certificate.ca, true);
    assert.equal(certificate.subject, 'CN=Tèst');
    assert.ok(certificate.verify(certificate.publicKey));
    assert.ok(certificate.checkPrivateKey(createPrivateKey(authority.keyPem)));
  });

  it('issues certificates for names and addresses', () => {
    const issued = authority.issue({
      commonName: 'n0',
      dnsNames: ['n0.example', 'localhost'],
      ipAddresses: ['127.0.0.1', '::1', 'fe80::a:1'],
      days: 30,
    });
    const certificate = new X509Certificate(issued.certificatePem);
    const issuer = new X509Certificate(authority.certificatePem);
    assert.equal(certificate.ca, false);
    assert.ok(certificate.checkIssued(issuer));
    assert.ok(certificate.verify(issuer.publicKey));
    assert.ok(certificate.checkPrivateKey(createPrivateKey(issued.keyPem)));
    assert.match(issued.keyPem, /^-----BEGIN PRIVATE KEY-----/);
    assert.equal(certificate.checkHost('n0.example'), 'n0.example');
    assert.equal(certificate.checkHost('other.example'), undefined);
    for (const address of ['127.0.0.1', '::1', 'fe80::a:1']) {
      assert.equal(certificate.checkIP(address), address);
    }
    const days = (Date.parse(certificate.validTo) - Date.now()) / 86_400_000;
    assert.ok(Math.abs(days - 30) < 0.1);
    assert.ok(Date.parse(certificate.validFrom) < Date.now());
  });

  it('gives every certificate a serial number of its own', () => {
    const serials = [1, 2, 3].map(
      () => new X509Certificate(authority.issue({ commonName: 'x' }).certificatePem).serialNumber,
    );
    assert.equal(new Set(serials).size, 3);
  });

  it('makes expired certificates on demand', () => {
    const { certificatePem } = authority.issue({ commonName: 'x', days: -1 });
    assert.ok(Date.parse(new X509Certificate(certificatePem).validTo) < Date.now());
  });

  it('refuses what is no IP address', () => {
    for (const address of ['localhost', '1.2.3', '::ffff:1.2.3.4', 'fe80::1%eth0', '']) {
      assert.throws(
        () => authority.issue({ commonName: 'x', ipAddresses: [address] }),
        InvalidArgumentError,
        address,
      );
    }
  });
});
