import {
  createHash,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { isIP } from 'node:net';
import { InvalidArgumentError } from '../common/errors.js';
import {
  bitString,
  boolean,
  context,
  explicit,
  integer,
  objectId,
  octetString,
  sequence,
  set,
  utcTime,
  utf8,
} from './der.js';

/** A certificate and its private key (PKCS#8), as PEM text. */
export interface IssuedCertificate {
  readonly certificatePem: string;
  readonly keyPem: string;
}

export interface CertificateRequest {
  readonly commonName: string;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  /** Days of validity from now; negative makes a certificate that has expired. Default 365. */
  readonly days?: number;
}

/** A certificate authority of its own, for demonstrations and tests. */
export interface CertificateAuthority extends IssuedCertificate {
  /**
   * Makes a certificate that serves both as server and as client. Throws InvalidArgumentError for a
   * bad IP address.
   */
  issue(request: CertificateRequest): IssuedCertificate;
}

const OID = {
  commonName: '2.5.4.3',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

const DAY_MS = 86_400_000;
const CA_DAYS = 3_650;
const DEFAULT_DAYS = 365;
/** Certificates are valid from an hour ago, so that clocks which differ a little do not matter. */
const CLOCK_SKEW_MS = 3_600_000;

interface Subject {
  readonly commonName: string;
  readonly publicKey: KeyObject;
  readonly days: number;
  readonly extensions: readonly Buffer[];
}

interface Issuer {
  readonly commonName: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
}

/** Makes a certificate authority with ECDSA P-256 keys. Nothing is written to disk. */
export function createCertificateAuthority(name: string): CertificateAuthority {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const issuer: Issuer = { commonName: name, ...keys };
  const certificatePem = makeCertificate(issuer, {
    commonName: name,
    publicKey: keys.publicKey,
    days: CA_DAYS,
    extensions: [
      extension(OID.basicConstraints, true, sequence(boolean(true))),
      // keyCertSign and cRLSign
      extension(OID.keyUsage, true, bitString(Buffer.of(0x06), 1)),
    ],
  });
  return {
    certificatePem,
    keyPem: keyPem(keys.privateKey),
    issue: (request) => issue(issuer, request),
  };
}

function issue(issuer: Issuer, request: CertificateRequest): IssuedCertificate {
  const keys = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const names = [
    ...(request.dnsNames ?? []).map((dnsName) => context(2, Buffer.from(dnsName, 'latin1'))),
    ...(request.ipAddresses ?? []).map((address) => context(7, addressBytes(address))),
  ];
  const extensions = [
    extension(OID.basicConstraints, true, sequence()),
    // digitalSignature
    extension(OID.keyUsage, true, bitString(Buffer.of(0x80), 7)),
    extension(
      OID.extendedKeyUsage,
      false,
      sequence(objectId(OID.serverAuth), objectId(OID.clientAuth)),
    ),
    extension(OID.authorityKeyId, false, sequence(context(0, keyId(issuer.publicKey)))),
  ];
  if (names.length > 0) {
    extensions.push(extension(OID.subjectAlternativeName, false, sequence(...names)));
  }
  const certificatePem = makeCertificate(issuer, {
    commonName: request.commonName,
    publicKey: keys.publicKey,
    days: request.days ?? DEFAULT_DAYS,
    extensions,
  });
  return { certificatePem, keyPem: keyPem(keys.privateKey) };
}

function makeCertificate(issuer: Issuer, subject: Subject): string {
  const algorithm = sequence(objectId(OID.ecdsaWithSha256));
  const now = Date.now();
  const notAfter = now + subject.days * DAY_MS;
  const notBefore = Math.min(now, notAfter) - CLOCK_SKEW_MS;
  const subjectKeyId = octetString(keyId(subject.publicKey));
  const toBeSigned = sequence(
    explicit(0, integer(Buffer.of(2))),
    integer(serialNumber()),
    algorithm,
    distinguishedName(issuer.commonName),
    sequence(utcTime(new Date(notBefore)), utcTime(new Date(notAfter))),
    distinguishedName(subject.commonName),
    subject.publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...subject.extensions, extension(OID.subjectKeyId, false, subjectKeyId))),
  );
  const signature = sign('sha256', toBeSigned, issuer.privateKey);
  const der = sequence(toBeSigned, algorithm, bitString(signature, 0));
  return new X509Certificate(der).toString();
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  const body = octetString(value);
  return critical ? sequence(objectId(id), boolean(true), body) : sequence(objectId(id), body);
}

function distinguishedName(commonName: string): Buffer {
  return sequence(set(sequence(objectId(OID.commonName), utf8(commonName))));
}

/** A positive number of 16 bytes. */
function serialNumber(): Buffer {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x3f) | 0x40;
  return bytes;
}

function keyId(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

function keyPem(privateKey: KeyObject): string {
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function addressBytes(address: string): Buffer {
  const version = isIP(address);
  if (version === 4) return Buffer.from(address.split('.').map(Number));
  if (version !== 6 || address.includes('%') || address.includes('.')) {
    throw new InvalidArgumentError(`not an IP address: ${JSON.stringify(address)}`);
  }
  const [left = '', right] = address.split('::');
  const head = left === '' ? [] : left.split(':');
  const tail = right === undefined || right === '' ? [] : right.split(':');
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  const bytes = Buffer.alloc(16);
  [...head, ...zeros, ...tail].forEach((group, index) => {
    bytes.writeUInt16BE(Number.parseInt(group, 16), index * 2);
  });
  return bytes;
}
