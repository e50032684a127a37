import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsOptions } from 'kontiki';
import { createCertificateAuthority } from 'kontiki/testing';

/** Mutual TLS for one peer: for Kontiki as options, for Java as files. */
export interface PeerTls {
  readonly options: TlsOptions;
  readonly files: { readonly tlsCa: string; readonly tlsCert: string; readonly tlsKey: string };
}

/**
 * Makes certificates for the named peers, all of one authority, with their files in `directory`.
 */
export function makeCertificates(
  directory: string,
  names: readonly string[],
): ReadonlyMap<string, PeerTls> {
  const authority = createCertificateAuthority('kontiki interop');
  mkdirSync(directory, { recursive: true });
  const write = (name: string, content: string) => {
    const path = join(directory, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const tlsCa = write('ca.pem', authority.certificatePem);
  return new Map(
    names.map((name) => {
      const issued = authority.issue({
        commonName: name,
        dnsNames: ['localhost'],
        ipAddresses: ['127.0.0.1'],
      });
      const options: TlsOptions = {
        trustCertificates: authority.certificatePem,
        certificateChain: issued.certificatePem,
        privateKey: issued.keyPem,
        mutual: true,
      };
      const tlsCert = write(`${name}.cert.pem`, issued.certificatePem);
      const tlsKey = write(`${name}.key.pem`, issued.keyPem);
      return [name, { options, files: { tlsCa, tlsCert, tlsKey } }];
    }),
  );
}

/** Mutual TLS from the files of `makeCertificates`. */
export function tlsFromFiles(files: PeerTls['files']): PeerTls {
  const options: TlsOptions = {
    trustCertificates: readFileSync(files.tlsCa),
    certificateChain: readFileSync(files.tlsCert),
    privateKey: readFileSync(files.tlsKey),
    mutual: true,
  };
  return { options, files };
}
