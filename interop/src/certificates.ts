import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TlsOptions } from 'kontiki';

/** Mutual TLS for one peer: for Kontiki as options, for Java as files. */
export interface PeerTls {
  readonly options: TlsOptions;
  readonly files: { readonly tlsCa: string; readonly tlsCert: string; readonly tlsKey: string };
}

interface Issued {
  readonly certificatePem: string;
  readonly keyPem: string;
}
interface Authority extends Issued {
  issue(request: {
    readonly commonName: string;
    readonly dnsNames: readonly string[];
    readonly ipAddresses: readonly string[];
  }): Issued;
}

/**
 * Makes certificates for the named peers, all of one authority, with their files in `directory`.
 */
export async function makeCertificates(
  directory: string,
  names: readonly string[],
): Promise<ReadonlyMap<string, PeerTls>> {
  const module = new URL('./runtime/certificates.js', import.meta.resolve('kontiki'));
  const { createCertificateAuthority } = (await import(module.href)) as {
    createCertificateAuthority(name: string): Authority;
  };
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
