import { createSecureContext, type PeerCertificate, type SecureContext } from 'node:tls';
import { messageOf } from '../../common/errors.js';
import type { PemSource, TlsOptions } from '../transport.js';
import { TlsConfigurationError } from './errors.js';

/** What Node's TLS takes of one slot. */
export interface SecureContextInput {
  readonly ca?: string | Buffer;
  readonly cert?: string | Buffer;
  readonly key?: string | Buffer;
}

/**
 * Checks a server's slot: key and chain always, trust certificates with mutual TLS (spec: wire-grpc
 * 9.1).
 */
export function serverTlsInput(tls: TlsOptions): SecureContextInput {
  if (tls.certificateChain === undefined || tls.privateKey === undefined) {
    throw new TlsConfigurationError('a TLS server needs a certificate chain and a private key');
  }
  if (tls.mutual && tls.trustCertificates === undefined) {
    throw new TlsConfigurationError('mutual TLS needs trust certificates at the server');
  }
  return verified({
    ...(tls.trustCertificates === undefined ? {} : { ca: pem(tls.trustCertificates) }),
    cert: pem(tls.certificateChain),
    key: pem(tls.privateKey),
  });
}

/**
 * A client's slot as a reusable context: trust certificates always, there is no system store behind
 * them (spec: wire-grpc 9.1).
 */
export function clientSecureContext(tls: TlsOptions): SecureContext {
  if (tls.trustCertificates === undefined) {
    throw new TlsConfigurationError('a TLS client needs trust certificates');
  }
  const ca = pem(tls.trustCertificates);
  if (!tls.mutual) return context({ ca });
  if (tls.certificateChain === undefined || tls.privateKey === undefined) {
    throw new TlsConfigurationError('mutual TLS needs a certificate chain and a private key');
  }
  return context({ ca, cert: pem(tls.certificateChain), key: pem(tls.privateKey) });
}

function pem(source: PemSource): string | Buffer {
  return typeof source === 'string' ? source : Buffer.from(source);
}

function verified(input: SecureContextInput): SecureContextInput {
  context(input);
  return input;
}

function context(input: SecureContextInput): SecureContext {
  if (input.ca !== undefined && !String(input.ca).includes('-----BEGIN ')) {
    throw new TlsConfigurationError('trust certificates are not PEM text');
  }
  try {
    return createSecureContext({ ...input, minVersion: 'TLSv1.2' });
  } catch (error) {
    throw new TlsConfigurationError(`unusable TLS key or certificates: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** Common name and alternative names of a certificate. */
export function certificateNames(certificate: PeerCertificate | undefined): string[] {
  if (certificate?.subject === undefined) return [];
  const names: string[] = [];
  const commonName: unknown = certificate.subject.CN;
  if (Array.isArray(commonName)) names.push(...commonName.map(String));
  else if (typeof commonName === 'string') names.push(commonName);
  for (const name of alternativeNames(certificate.subjectaltname ?? '')) {
    if (!names.includes(name)) names.push(name);
  }
  return names;
}

/**
 * Splits Node's `DNS:a, IP Address:1.2.3.4` list; a value with special characters is a JSON string
 * there.
 */
function alternativeNames(list: string): string[] {
  const names: string[] = [];
  const pattern = /(?:^|, )[^:,"]+:("(?:[^"\\]|\\.)*"|[^,]*)/g;
  for (const match of list.matchAll(pattern)) {
    const value = match[1] ?? '';
    names.push(value.startsWith('"') ? String(JSON.parse(value)) : value);
  }
  return names;
}
