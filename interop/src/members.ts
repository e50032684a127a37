import {
  createConsoleLogger,
  type Division,
  type RaftGroup,
  type RaftPeer,
  RaftPeerRole,
  RaftServer,
} from 'kontiki';
import type { PeerTls } from './certificates.js';
import { LabMachine } from './lab-machine.js';
import { type PeerArguments, PeerProcess } from './peer-process.js';

export type MemberKind = 'java' | 'kontiki';

/** What a member says of itself. */
export interface MemberInfo {
  readonly role: string;
  /** Leader that serves requests. */
  readonly ready: boolean;
  readonly leader: string | null;
  readonly term: number;
  readonly commit: number;
  readonly applied: number;
  /** -1 when the log is empty. */
  readonly lastIndex: number;
  /** State of the machine. */
  readonly value: number;
  readonly records: readonly string[];
}

/** An entry of a log. */
export interface LogLine {
  readonly term: number;
  readonly index: number;
  readonly kind: string;
  /** Of its bytes in the file. */
  readonly md5: string;
}

export interface MemberOptions {
  readonly peer: RaftPeer;
  readonly group: RaftGroup;
  readonly storage: string;
  readonly tls: PeerTls | undefined;
  readonly properties: Readonly<Record<string, string>>;
}

/** A server of either kind. */
export interface Member {
  readonly kind: MemberKind;
  readonly isRunning: boolean;
  start(): Promise<void>;
  /** In order. */
  stop(): Promise<void>;
  /** As in a crash, as far as its kind can do that. */
  kill(): Promise<void>;
  info(): Promise<MemberInfo>;
}

/** Peers as the Java peer reads them. */
export function peersText(peers: readonly RaftPeer[]): string {
  return peers
    .map((p) => [p.id, p.address, p.clientAddress, p.adminAddress, p.priority].join('|'))
    .join(',');
}

/** A member with a process of its own, which can be killed. */
export class ProcessMember implements Member {
  readonly kind: MemberKind;
  readonly options: MemberOptions;
  #peer: PeerProcess | undefined;

  constructor(kind: MemberKind, options: MemberOptions) {
    this.kind = kind;
    this.options = options;
  }

  get isRunning(): boolean {
    return this.#peer !== undefined;
  }

  async start(): Promise<void> {
    const { peer, group, storage, tls, properties } = this.options;
    const process = await (this.kind === 'java'
      ? PeerProcess.startJava()
      : PeerProcess.startKontiki());
    const args: PeerArguments = {
      id: peer.id,
      group: group.groupId.uuid,
      peers: peersText(group.peers),
      storage,
      ...tls?.files,
      ...properties,
    };
    try {
      await process.command('startServer', args);
    } catch (error) {
      await process.kill();
      throw error;
    }
    this.#peer = process;
  }

  async stop(): Promise<void> {
    const peer = this.#peer;
    this.#peer = undefined;
    await peer?.close();
  }

  async kill(): Promise<void> {
    const peer = this.#peer;
    this.#peer = undefined;
    await peer?.kill();
  }

  async info(): Promise<MemberInfo> {
    return (await this.#ask('serverInfo')) as MemberInfo;
  }

  /** The entries of the log, as Java reads them. */
  async log(): Promise<readonly LogLine[]> {
    return (await this.#ask('serverLog')) as LogLine[];
  }

  #ask(command: string): Promise<unknown> {
    const { id } = this.options.peer;
    if (this.#peer === undefined) throw new Error(`${id} does not run`);
    return this.#peer.command(command, { id });
  }
}

const ROLE_NAMES = Object.fromEntries(
  Object.entries(RaftPeerRole).map(([name, role]) => [role, name]),
);

export class KontikiMember implements Member {
  readonly kind = 'kontiki';
  readonly #options: MemberOptions;
  #server: RaftServer | undefined;
  #machine = new LabMachine();

  constructor(options: MemberOptions) {
    this.#options = options;
  }

  get isRunning(): boolean {
    return this.#server !== undefined;
  }

  async start(): Promise<void> {
    const { peer, group, storage, tls, properties } = this.#options;
    this.#machine = new LabMachine();
    const level = process.env['KONTIKI_INTEROP_LOG'];
    const server = RaftServer.create({
      id: peer.id,
      group,
      stateMachineRegistry: (groupId) =>
        groupId.equals(group.groupId) ? this.#machine : new LabMachine(),
      ...(tls === undefined ? {} : { tls: { default: tls.options } }),
      ...(level === undefined ? {} : { logger: createConsoleLogger() }),
      options: {
        'raft.server.storage.dir': [storage],
        'raft.grpc.server.port': portOf(peer.address),
        ...(peer.clientAddress === ''
          ? {}
          : { 'raft.grpc.client.port': portOf(peer.clientAddress) }),
        ...(peer.adminAddress === '' ? {} : { 'raft.grpc.admin.port': portOf(peer.adminAddress) }),
        ...properties,
      },
    });
    await server.start();
    this.#server = server;
  }

  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    await server?.close();
  }

  kill(): Promise<void> {
    return this.stop();
  }

  get division(): Division {
    if (this.#server === undefined) throw new Error(`${this.#options.peer.id} does not run`);
    return this.#server.getDivision(this.#options.group.groupId);
  }

  async info(): Promise<MemberInfo> {
    const { division } = this;
    if (division.failure !== undefined) throw division.failure;
    return {
      role: ROLE_NAMES[division.role] ?? '',
      ready: division.isLeaderReady,
      leader: division.leaderId ?? null,
      term: division.currentTerm,
      commit: division.commitIndex,
      applied: division.appliedIndex,
      lastIndex: division.logInfo.lastEntry?.index ?? -1,
      value: this.#machine.value,
      records: [...this.#machine.records],
    };
  }
}

function portOf(address: string): number {
  return Number(address.slice(address.lastIndexOf(':') + 1));
}

/** Kontiki members live in this process, unless they shall have one of their own. */
export function createMember(
  kind: MemberKind,
  options: MemberOptions,
  ownProcess: boolean,
): Member {
  return kind === 'java' || ownProcess
    ? new ProcessMember(kind, options)
    : new KontikiMember(options);
}
