import {
  KontikiError,
  NotLeaderException,
  NotReplicatedException,
  type RaftClient,
  type RaftClientReply,
  RaftClient as RaftClients,
  RaftException,
  type RaftGroup,
  ReplicationLevel,
} from 'kontiki';
import type { PeerTls } from './certificates.js';
import { text } from './lab-machine.js';
import { type MemberKind, peersText } from './members.js';
import { PeerCallError, type PeerError } from './peer-error.js';
import { type PeerArguments, PeerProcess } from './peer-process.js';

/** A reply in the form that both kinds of client are brought into. */
export interface LabReply {
  readonly success: boolean;
  readonly text: string | null;
  readonly index: number;
  readonly server: string;
  readonly commits: readonly { readonly id: string; readonly commit: number }[];
  readonly exception: PeerError | null;
}

export interface LabGroupInfo {
  readonly success: boolean;
  readonly group: string;
  readonly peers: readonly string[];
  readonly healthy: boolean;
  readonly self: string;
  readonly role: string;
  readonly leader: string;
  readonly followers: readonly { readonly id: string }[];
  readonly term: number;
  readonly applied: number;
  readonly committed: number;
  readonly lastEntry: number;
  readonly commits: readonly { readonly id: string; readonly commit: number }[];
}

/** A client of either kind; operations are those of `LabClient.java`. */
export interface LabClient {
  readonly kind: MemberKind;
  /** Rejects with PeerCallError. */
  call(op: string, args?: PeerArguments): Promise<LabReply>;
  sendMany(prefix: string, count: number): Promise<readonly string[]>;
  groupList(server: string): Promise<readonly string[]>;
  groupInfo(server: string): Promise<LabGroupInfo>;
  close(): Promise<void>;
}

export interface ClientOptions {
  readonly group: RaftGroup;
  readonly tls: PeerTls | undefined;
  /** First guess of the leader. */
  readonly leader?: string;
  /** How often a Java client tries; many times when absent. */
  readonly attempts?: number;
}

export class JavaClient implements LabClient {
  readonly kind = 'java';
  readonly #peer: PeerProcess;

  private constructor(peer: PeerProcess) {
    this.#peer = peer;
  }

  static async open(options: ClientOptions): Promise<JavaClient> {
    const peer = await PeerProcess.startJava();
    await peer.command('openClient', {
      name: 'c',
      group: options.group.groupId.uuid,
      peers: peersText(options.group.peers),
      leader: options.leader,
      ...options.tls?.files,
      attempts: options.attempts,
    });
    return new JavaClient(peer);
  }

  async call(op: string, args: PeerArguments = {}): Promise<LabReply> {
    const reply = (await this.#call(op, args)) as LabReply;
    if (reply.exception !== null) throw new PeerCallError(reply.exception);
    return reply;
  }

  async sendMany(prefix: string, count: number): Promise<readonly string[]> {
    return (await this.#call('sendMany', { prefix, count })) as string[];
  }

  async groupList(server: string): Promise<readonly string[]> {
    return ((await this.#call('groupList', { server })) as { groups: string[] }).groups;
  }

  async groupInfo(server: string): Promise<LabGroupInfo> {
    return (await this.#call('groupInfo', { server })) as LabGroupInfo;
  }

  /** At once: servers must bear that too. */
  close(): Promise<void> {
    return this.#peer.kill();
  }

  /** What the operation answers, or how it fails: as it is. */
  async outcome(op: string, args: PeerArguments): Promise<unknown> {
    try {
      return await this.#call(op, args);
    } catch (error) {
      if (error instanceof PeerCallError) return { thrown: error.details };
      throw error;
    }
  }

  #call(op: string, args: PeerArguments): Promise<unknown> {
    return this.#peer.command('call', { name: 'c', op, ...args });
  }
}

/** What a Kontiki client rejects with, as Java would name it. */
function asPeerError(error: unknown): unknown {
  if (error instanceof RaftException) {
    return new PeerCallError({
      type: error.javaClass,
      message: error.message,
      ...(error instanceof NotLeaderException
        ? { leader: error.suggestedLeader?.id ?? null, peers: error.peers.map(({ id }) => id) }
        : {}),
      ...(error instanceof NotReplicatedException ? { index: error.logIndex } : {}),
    });
  }
  if (error instanceof KontikiError) {
    return new PeerCallError({ type: error.code, message: error.message });
  }
  return error;
}

type Operation = (client: RaftClient, args: PeerArguments) => Promise<RaftClientReply>;

const message = (args: PeerArguments) => String(args['text']);
const index = (args: PeerArguments) => Number(args['index']);
const serverId = (args: PeerArguments) => String(args['server']);
const level = (args: PeerArguments) =>
  ReplicationLevel[(args['level'] ?? 'MAJORITY') as keyof typeof ReplicationLevel];
const at = (args: PeerArguments) =>
  args['server'] === undefined ? {} : { serverId: serverId(args) };

const OPERATIONS: Readonly<Record<string, Operation>> = {
  send: (c, a) => c.async().send(message(a), { replication: level(a) }),
  read: (c, a) => c.async().sendReadOnly(message(a), at(a)),
  readAfterWrite: (c, a) => c.async().sendReadAfterWrite(message(a)),
  readNonLinearizable: (c, a) => c.async().sendReadOnlyNonLinearizable(message(a)),
  readUnordered: (c, a) => c.async().sendReadOnlyUnordered(message(a), at(a)),
  staleRead: (c, a) => c.async().sendStaleRead(message(a), index(a), serverId(a)),
  watch: (c, a) => c.async().watch(index(a), level(a)),
  ioSend: (c, a) => c.io().send(message(a)),
  ioRead: (c, a) => c.io().sendReadOnly(message(a), at(a)),
  ioReadAfterWrite: (c, a) => c.io().sendReadAfterWrite(message(a)),
  ioReadNonLinearizable: (c, a) => c.io().sendReadOnlyNonLinearizable(message(a)),
  ioStaleRead: (c, a) => c.io().sendStaleRead(message(a), index(a), serverId(a)),
  ioWatch: (c, a) => c.io().watch(index(a), level(a)),
  stream: (c, a) =>
    c.messageStream().streamAsync(message(a), { submessageBytes: Number(a['pieceBytes']) }),
  snapshot: (c, a) => c.snapshotManagement(serverId(a)).create(10_000, { force: true }),
};

export class KontikiClient implements LabClient {
  readonly kind = 'kontiki';
  readonly #client: RaftClient;

  constructor(options: ClientOptions) {
    this.#client = RaftClients.create({
      group: options.group,
      ...(options.leader === undefined ? {} : { leaderId: options.leader }),
      ...(options.tls === undefined ? {} : { tls: { default: options.tls.options } }),
    });
  }

  async call(op: string, args: PeerArguments = {}): Promise<LabReply> {
    const operation = OPERATIONS[op];
    if (operation === undefined) throw new Error(`no operation ${op}`);
    try {
      const reply = await operation(this.#client, args);
      return {
        success: reply.success,
        text: reply.message === undefined ? null : text(reply.message),
        index: reply.logIndex,
        server: reply.serverId,
        commits: commitsOf(reply),
        exception: null,
      };
    } catch (error) {
      throw asPeerError(error);
    }
  }

  async sendMany(prefix: string, count: number): Promise<readonly string[]> {
    const replies = await Promise.all(
      Array.from({ length: count }, (_, i) => this.#client.async().send(`${prefix}${i}`)),
    );
    return replies.map((reply) => text(reply.message));
  }

  async groupList(server: string): Promise<readonly string[]> {
    const reply = await this.#client.groupManagement(server).list();
    return reply.groupIds.map((id) => id.uuid);
  }

  async groupInfo(server: string): Promise<LabGroupInfo> {
    const reply = await this.#client.groupManagement(server).info();
    const { role, logInfo } = reply;
    return {
      success: reply.success,
      group: reply.group.groupId.uuid,
      peers: reply.group.peers.map(({ id, address }) => `${id}|${address}`),
      healthy: reply.isRaftStorageHealthy,
      self: role.self.id,
      role: ['LEADER', 'CANDIDATE', 'FOLLOWER', 'LISTENER'][role.role] ?? '',
      leader: role.followerInfo?.leader.peer?.id ?? '',
      followers: (role.leaderInfo?.followers ?? []).map(({ peer }) => ({ id: peer?.id ?? '' })),
      term: role.leaderInfo?.term ?? 0,
      applied: logInfo.applied?.index ?? 0,
      committed: logInfo.committed?.index ?? 0,
      lastEntry: logInfo.lastEntry?.index ?? 0,
      commits: commitsOf(reply),
    };
  }

  close(): Promise<void> {
    return this.#client.close();
  }
}

function commitsOf(reply: RaftClientReply) {
  return reply.commitInfos.map(({ server, commitIndex }) => ({
    id: server.id,
    commit: commitIndex,
  }));
}

export function openClient(kind: MemberKind, options: ClientOptions): Promise<LabClient> {
  return kind === 'java' ? JavaClient.open(options) : Promise.resolve(new KontikiClient(options));
}
