import { writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { COUNTER_GROUP_ID } from '../../examples/counter/index.js';
import type { RaftPeer } from '../../protocol/peer.js';
import { parsePeer } from '../../protocol/peer-syntax.js';
import type { TlsOptions } from '../../rpc/transport.js';
import { createCertificateAuthority } from '../../runtime/certificates.js';
import { DEMO_GROUP_ID } from '../machines.js';
import { ServerProcess } from './server-process.js';

const SERVER_NAMES = ['n0', 'n1', 'n2'];
const HOST = '127.0.0.1';
/** Elections should not be called because a busy machine is late. */
const SETTINGS = ['raft.server.rpc.timeout.min=500ms', 'raft.server.rpc.timeout.max=1000ms'];

/** Three servers on this machine. */
export interface Cluster {
  readonly peers: readonly RaftPeer[];
  /** `n0:127.0.0.1:1234,...` */
  readonly peersText: string;
  readonly servers: readonly ServerProcess[];
  /** For a client. */
  readonly tls: TlsOptions;
  /** Options that a client command needs to use it. */
  readonly tlsArguments: readonly string[];
  storageOf(id: string): string;
}

/** Ports that are free now; all are held until the last is known, so that they differ. */
async function freePorts(count: number): Promise<number[]> {
  const listeners = await Promise.all(
    Array.from({ length: count }, async () => {
      const listener = createServer();
      await new Promise<void>((resolve, reject) => {
        listener.once('error', reject);
        listener.listen(0, HOST, resolve);
      });
      return listener;
    }),
  );
  const ports = listeners.map((listener) => {
    const address = listener.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all(
    listeners.map((listener) => new Promise<void>((resolve) => listener.close(() => resolve()))),
  );
  return ports;
}

/**
 * Writes a certificate authority, and a certificate for each name that it signed, into a folder.
 */
function writeCertificates(directory: string, names: readonly string[]): void {
  const authority = createCertificateAuthority('kontiki demo');
  writeFileSync(join(directory, 'ca.pem'), authority.certificatePem);
  for (const name of names) {
    const issued = authority.issue({
      commonName: name,
      dnsNames: ['localhost', name],
      ipAddresses: [HOST],
    });
    writeFileSync(join(directory, `${name}.pem`), issued.certificatePem);
    writeFileSync(join(directory, `${name}.key`), issued.keyPem, { mode: 0o600 });
  }
}

function tlsArgumentsOf(directory: string, name: string): string[] {
  return [
    ...['--tls-ca', join(directory, 'ca.pem')],
    ...['--tls-cert', join(directory, `${name}.pem`)],
    ...['--tls-key', join(directory, `${name}.key`)],
  ];
}

/** Lays out a cluster below a folder; its servers are not started yet. */
export async function createCluster(
  directory: string,
  readPem: (file: string) => string,
  detached: boolean,
): Promise<Cluster> {
  writeCertificates(directory, [...SERVER_NAMES, 'client']);
  const ports = await freePorts(SERVER_NAMES.length);
  const peersText = SERVER_NAMES.map((name, i) => `${name}:${HOST}:${ports[i]}`).join(',');
  const storageOf = (id: string) => join(directory, id);
  const servers = SERVER_NAMES.map(
    (id) =>
      new ServerProcess({
        id,
        args: [
          ...['--id', id, '--peers', peersText, '--storage', storageOf(id)],
          ...['--raftGroup', COUNTER_GROUP_ID.uuid, '--stateMachine', 'counter'],
          ...['--raftGroup', DEMO_GROUP_ID.uuid, '--stateMachine', 'filestore'],
          ...SETTINGS.flatMap((setting) => ['-D', setting]),
          ...tlsArgumentsOf(directory, id),
        ],
        logFile: join(directory, `${id}.log`),
        detached,
      }),
  );
  return {
    peers: peersText.split(',').map(parsePeer),
    peersText,
    servers,
    storageOf,
    tlsArguments: tlsArgumentsOf(directory, 'client'),
    tls: {
      trustCertificates: readPem(join(directory, 'ca.pem')),
      certificateChain: readPem(join(directory, 'client.pem')),
      privateKey: readPem(join(directory, 'client.key')),
      mutual: true,
    },
  };
}
