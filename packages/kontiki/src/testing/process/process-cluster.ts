import { randomUUID } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RaftClient, type RaftClientOptions } from '../../client/index.js';
import { createGroup, type RaftGroup } from '../../protocol/group.js';
import { RaftGroupId } from '../../protocol/ids.js';
import { createPeer, type RaftPeer } from '../../protocol/peer.js';
import type { TlsOptions } from '../../rpc/transport.js';
import { createCertificateAuthority } from '../../runtime/certificates.js';
import { findFreePorts } from './free-ports.js';
import { ServerProcess } from './server-process.js';

export interface ProcessClusterOptions {
  /** `counter`, `filestore`, or the path of a module with a state machine. */
  readonly stateMachine: string;
  /** How many servers; 3 when absent. */
  readonly size?: number;
  /** Mutual TLS with certificates of its own; true when absent. */
  readonly tls?: boolean;
  /** Keys for every server. */
  readonly properties?: Readonly<Record<string, string>>;
  /** Random when absent. */
  readonly groupId?: RaftGroupId;
  /** Where its folder is made; the system's temporary folder when absent. */
  readonly parentDirectory?: string;
  /** Lowest level of the servers' log lines; `warn` when absent. */
  readonly logLevel?: string;
  /** The command's script; the one of this package when absent. */
  readonly commandPath?: string;
  /** How long a server may take to be ready; 60 s when absent. */
  readonly readyTimeoutMs?: number;
}

interface Member {
  readonly peer: RaftPeer;
  readonly arguments: readonly string[];
  readonly logPath: string;
  process: ServerProcess | undefined;
}

const STOP_TIMEOUT_MS = 20_000;
const COMMAND_PATH = fileURLToPath(new URL('../../../bin/kontiki.js', import.meta.url));

/**
 * Servers of one group, each a `kontiki server` process on this machine, in a temporary folder.
 * They can be killed and started again. No process outlives the one that made the cluster.
 */
export class ProcessCluster {
  readonly group: RaftGroup;
  readonly directory: string;
  /** What a client needs to connect; undefined without TLS. */
  readonly clientTls: TlsOptions | undefined;
  readonly #members: readonly Member[];
  readonly #readyTimeoutMs: number;

  private constructor(options: ProcessClusterOptions, ports: readonly number[], directory: string) {
    const peers = ports.map((port, i) => createPeer({ id: `n${i}`, address: `127.0.0.1:${port}` }));
    this.group = createGroup(options.groupId ?? RaftGroupId.parse(randomUUID()), peers);
    this.directory = directory;
    this.#readyTimeoutMs = options.readyTimeoutMs ?? 60_000;
    const authority =
      (options.tls ?? true) ? createCertificateAuthority('kontiki test cluster') : undefined;
    const issue = (commonName: string): TlsOptions | undefined => {
      if (authority === undefined) return undefined;
      const issued = authority.issue({
        commonName,
        dnsNames: ['localhost'],
        ipAddresses: ['127.0.0.1'],
      });
      return {
        trustCertificates: authority.certificatePem,
        certificateChain: issued.certificatePem,
        privateKey: issued.keyPem,
        mutual: true,
      };
    };
    this.clientTls = issue('client');
    this.#members = peers.map((peer) => this.#member(peer, options, issue(peer.id)));
  }

  /** Makes the folder and starts all servers. When one does not start, none is left. */
  static async start(options: ProcessClusterOptions): Promise<ProcessCluster> {
    const ports = await findFreePorts(options.size ?? 3);
    const parent = options.parentDirectory ?? tmpdir();
    const directory = mkdtempSync(join(parent, 'kontiki-cluster-'));
    const cluster = new ProcessCluster(options, ports, directory);
    const started = await Promise.allSettled(
      cluster.peers.map((peer) => cluster.startServer(peer.id)),
    );
    const failed = started.find((result) => result.status === 'rejected');
    if (failed !== undefined) {
      await cluster.kill();
      throw failed.reason;
    }
    return cluster;
  }

  get peers(): readonly RaftPeer[] {
    return this.group.peers;
  }

  /** The running process of a server. Throws when it is not running. */
  server(id: string): ServerProcess {
    const { process } = this.#find(id);
    if (process === undefined || !process.isRunning) throw new Error(`${id} is not running`);
    return process;
  }

  /** Servers that ended by themselves, with the end of their logs. */
  get failures(): readonly string[] {
    return this.#members.flatMap(({ process }) =>
      process?.hasFailed === true ? [`${process.id} ended by itself: ${process.logTail}`] : [],
    );
  }

  /** Starts a server that is not running, and waits until it is ready. */
  async startServer(id: string): Promise<void> {
    const member = this.#find(id);
    if (member.process?.isRunning === true) throw new Error(`${id} is running`);
    member.process = await ServerProcess.start({
      id,
      arguments: member.arguments,
      logPath: member.logPath,
      readyTimeoutMs: this.#readyTimeoutMs,
    });
  }

  /** Kills a server as a crash would (SIGKILL). */
  async killServer(id: string): Promise<void> {
    await this.server(id).kill();
  }

  /** A client of the group. */
  client(options: Partial<RaftClientOptions> = {}): RaftClient {
    return RaftClient.create({
      group: this.group,
      ...(this.clientTls === undefined ? {} : { tls: { default: this.clientTls } }),
      ...options,
    });
  }

  /**
   * Closes all servers in order and deletes the folder (unless `keepFiles`). Rejects when a server
   * does not end with 0; the others are closed all the same.
   */
  async stop(options: { readonly keepFiles?: boolean } = {}): Promise<void> {
    const stopped = await Promise.allSettled(
      this.#members.map(({ process }) =>
        process?.isRunning === true ? process.stop(STOP_TIMEOUT_MS) : undefined,
      ),
    );
    const failed = stopped.find((result) => result.status === 'rejected');
    if (options.keepFiles !== true && failed === undefined) this.#deleteFiles();
    if (failed !== undefined) throw failed.reason;
  }

  /** Kills all servers at once and deletes the folder (unless `keepFiles`). */
  async kill(options: { readonly keepFiles?: boolean } = {}): Promise<void> {
    await Promise.all(this.#members.map(({ process }) => process?.kill()));
    if (options.keepFiles !== true) this.#deleteFiles();
  }

  #deleteFiles(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }

  #find(id: string): Member {
    const member = this.#members.find(({ peer }) => peer.id === id);
    if (member === undefined) throw new Error(`there is no server ${id}`);
    return member;
  }

  #member(peer: RaftPeer, options: ProcessClusterOptions, tls: TlsOptions | undefined): Member {
    const home = join(this.directory, peer.id);
    mkdirSync(home);
    const all = this.peers.map(({ id, address }) => `${id}:${address}`).join(',');
    const arguments_ = [options.commandPath ?? COMMAND_PATH, 'server'];
    arguments_.push('--id', peer.id, '--peers', all);
    arguments_.push('--raftGroup', this.group.groupId.uuid);
    arguments_.push('--storage', join(home, 'storage'));
    arguments_.push('--stateMachine', options.stateMachine);
    arguments_.push('--log-level', options.logLevel ?? 'warn');
    for (const [key, value] of Object.entries(options.properties ?? {})) {
      arguments_.push('-D', `${key}=${value}`);
    }
    if (tls !== undefined) arguments_.push(...writeTlsFiles(home, tls));
    return { peer, arguments: arguments_, logPath: join(home, 'server.log'), process: undefined };
  }
}

function writeTlsFiles(home: string, tls: TlsOptions): string[] {
  const files = {
    '--tls-ca': tls.trustCertificates,
    '--tls-cert': tls.certificateChain,
    '--tls-key': tls.privateKey,
  };
  return Object.entries(files).flatMap(([option, content]) => {
    if (content === undefined) return [];
    const path = join(home, `${option.slice(2)}.pem`);
    writeFileSync(path, content, { mode: 0o600 });
    return [option, path];
  });
}
