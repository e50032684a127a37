import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from '../common/logger.js';
import type { RaftOptions } from '../config/registry.js';
import { createGroup, type RaftGroup } from '../protocol/group.js';
import { ClientId, RaftGroupId, type RaftPeerId } from '../protocol/ids.js';
import { createPeer, type RaftPeer } from '../protocol/peer.js';
import {
  type AdminOperation,
  type RaftClientReply,
  type RaftClientRequest,
  ReplicationLevel,
  type RequestType,
} from '../protocol/requests.js';
import { MemoryNetwork, MemoryTransport } from '../rpc/memory/index.js';
import { nodeRuntime, type VirtualFileSystem } from '../runtime/index.js';
import type { Division } from '../server/division.js';
import { RaftServer } from '../server/raft-server.js';
import type { StateMachine } from '../statemachine/types.js';
import { CuttableTransport } from './cuttable-transport.js';
import { eventually } from './eventually.js';

export interface MiniClusterOptions {
  /** Number of servers: n0, n1 ... Default 3. */
  readonly servers?: number;
  /** Number of groups that all servers serve. Default 1. */
  readonly groups?: number;
  readonly stateMachine: (serverId: RaftPeerId, groupId: RaftGroupId) => StateMachine;
  readonly options?: RaftOptions;
  readonly logger?: Logger;
  /** File system of a server, asked at each start. Default: Node's. */
  readonly fileSystem?: (serverId: RaftPeerId) => VirtualFileSystem | undefined;
}

/** Short time-outs that still bear a busy machine. */
const FAST: RaftOptions = {
  'raft.server.rpc.timeout.min': 150,
  'raft.server.rpc.timeout.max': 300,
  'raft.server.leaderelection.leader.step-down.wait-time': 300,
  'raft.server.rpc.request.timeout': 2000,
};

const PORT = 1;

/**
 * Several servers in one process, over the transport in memory, with storage in a temporary folder.
 */
export class MiniCluster {
  readonly groups: readonly RaftGroup[];
  readonly peers: readonly RaftPeer[];
  readonly network = new MemoryNetwork();
  readonly directory: string;
  readonly servers = new Map<RaftPeerId, RaftServer>();
  readonly #options: MiniClusterOptions;
  readonly #runtime = nodeRuntime();
  readonly #transports = new Map<RaftPeerId, CuttableTransport>();
  readonly #added: RaftPeer[] = [];
  #nextServer: number;
  #nextCallId = 1;
  readonly #clientId = ClientId.of(this.#runtime.random.bytes(16));

  private constructor(options: MiniClusterOptions, directory: string) {
    this.#options = options;
    this.directory = directory;
    this.peers = Array.from({ length: options.servers ?? 3 }, (_, i) =>
      createPeer({ id: `n${i}`, address: `n${i}:${PORT}` }),
    );
    this.#nextServer = this.peers.length;
    this.groups = Array.from({ length: options.groups ?? 1 }, () =>
      createGroup(RaftGroupId.of(this.#runtime.random.bytes(16)), this.peers),
    );
  }

  /** Starts all servers. */
  static async start(options: MiniClusterOptions): Promise<MiniCluster> {
    const directory = await mkdtemp(join(tmpdir(), 'kontiki-cluster-'));
    const cluster = new MiniCluster(options, directory);
    await Promise.all(cluster.peers.map((peer) => cluster.startServer(peer.id)));
    return cluster;
  }

  get group(): RaftGroup {
    const [first] = this.groups;
    if (first === undefined) throw new Error('the cluster has no group');
    return first;
  }

  /** A transport to the cluster, for clients. */
  transport(): MemoryTransport {
    return new MemoryTransport({ runtime: this.#runtime, network: this.network });
  }

  /** A server that knows no member of the groups: it waits until a leader adds it. */
  async startNewServer(): Promise<RaftPeer> {
    const id = `n${this.#nextServer++}`;
    const peer = createPeer({ id, address: `${id}:${PORT}` });
    this.#added.push(peer);
    await this.startServer(id);
    return peer;
  }

  async startServer(id: RaftPeerId): Promise<RaftServer> {
    const isNew = this.#added.some((peer) => peer.id === id);
    const { stateMachine, logger, options } = this.#options;
    const fileSystem = this.#options.fileSystem?.(id);
    const transport = new CuttableTransport(this.transport());
    const server = RaftServer.create({
      id,
      groups: isNew ? this.groups.map(({ groupId }) => createGroup(groupId, [])) : this.groups,
      stateMachineRegistry: (groupId) => stateMachine(id, groupId),
      transport,
      runtime: this.#runtime,
      ...(logger === undefined ? {} : { logger }),
      ...(fileSystem === undefined ? {} : { fileSystem }),
      options: {
        ...FAST,
        'raft.grpc.server.host': id,
        'raft.grpc.server.port': PORT,
        'raft.server.storage.dir': [join(this.directory, id)],
        ...options,
      },
    });
    this.#transports.set(id, transport);
    this.servers.set(id, server);
    await server.start();
    return server;
  }

  /** Cuts the server off, then closes it: others see it vanish at once. */
  async stopServer(id: RaftPeerId): Promise<void> {
    const server = this.server(id);
    this.isolate(id);
    await server.close();
    this.servers.delete(id);
    this.rejoin(id);
  }

  async restartServer(id: RaftPeerId): Promise<RaftServer> {
    if (this.servers.has(id)) await this.stopServer(id);
    return this.startServer(id);
  }

  /** Cuts all links from and to a server. */
  isolate(id: RaftPeerId): void {
    this.#eachLink(id, (transport, target) => transport.cut(target));
  }

  rejoin(id: RaftPeerId): void {
    this.#eachLink(id, (transport, target) => transport.mend(target));
  }

  server(id: RaftPeerId): RaftServer {
    const server = this.servers.get(id);
    if (server === undefined) throw new Error(`server ${id} does not run`);
    return server;
  }

  division(id: RaftPeerId, group = this.group): Division {
    return this.server(id).getDivision(group.groupId);
  }

  /** Of all servers that host the group by now. */
  divisions(group = this.group): Division[] {
    return [...this.servers.values()]
      .map((server) => server.findDivision(group.groupId))
      .filter((division) => division !== undefined);
  }

  /** Waits for a leader that is ready, with the highest term of all. */
  waitForLeader(group = this.group, timeoutMs = 15_000): Promise<Division> {
    return eventually(
      `${group.groupId} has a leader`,
      () => {
        const divisions = this.divisions(group);
        const term = Math.max(...divisions.map((division) => division.currentTerm));
        return divisions.find(
          (division) => division.isLeaderReady && division.currentTerm === term,
        );
      },
      timeoutMs,
    );
  }

  /** Name of the server that a division belongs to. */
  idOf(division: Division): RaftPeerId {
    return division.memberId.slice(0, division.memberId.indexOf('@'));
  }

  /** Waits until all running servers have applied as much as the leader has committed. */
  async waitForAgreement(group = this.group, timeoutMs = 15_000): Promise<number> {
    const leader = await this.waitForLeader(group, timeoutMs);
    return eventually(
      'all servers have applied the same entries',
      () => {
        const applied = this.divisions(group).map((division) => division.appliedIndex);
        return applied.every((index) => index === leader.commitIndex) ? leader.commitIndex : false;
      },
      timeoutMs,
    );
  }

  /** A request of the cluster's own client. */
  request(
    message: Uint8Array,
    fields: Partial<RaftClientRequest> = {},
    type: RequestType = { kind: 'write', replication: ReplicationLevel.MAJORITY },
  ): RaftClientRequest {
    return {
      clientId: this.#clientId,
      serverId: 'n0',
      groupId: this.group.groupId,
      callId: this.#nextCallId++,
      toLeader: true,
      repliedCallIds: [],
      timeoutMs: 0,
      message,
      type,
      slidingWindowEntry: undefined,
      routingTable: undefined,
      spanContext: undefined,
      ...fields,
    };
  }

  /** Writes at the current leader. */
  async write(message: Uint8Array, fields: Partial<RaftClientRequest> = {}) {
    const leader = await this.waitForLeader();
    return leader.submitClientRequest(this.request(message, fields));
  }

  /** An admin request to one server. Rejects with what ends the RPC. */
  async admin(
    serverId: RaftPeerId,
    operation: AdminOperation,
    timeoutMs = 0,
  ): Promise<RaftClientReply> {
    return this.server(serverId).submitAdmin({
      clientId: this.#clientId,
      serverId,
      groupId: this.group.groupId,
      callId: this.#nextCallId++,
      toLeader: true,
      timeoutMs,
      operation,
    });
  }

  /** Asks the state machine of a server, or of the leader. */
  async read(message: Uint8Array, id?: RaftPeerId): Promise<RaftClientReply> {
    const division = id === undefined ? await this.waitForLeader() : this.division(id);
    const type: RequestType = {
      kind: 'read',
      preferNonLinearizable: false,
      readAfterWriteConsistent: false,
      dummy: false,
    };
    return division.submitClientRequest(this.request(message, {}, type));
  }

  /** Closes everything and removes the files. */
  async close(): Promise<void> {
    await Promise.all([...this.servers.values()].map((server) => server.close()));
    await rm(this.directory, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #eachLink(id: RaftPeerId, act: (transport: CuttableTransport, target: string) => void): void {
    for (const [from, transport] of this.#transports) {
      for (const peer of [...this.peers, ...this.#added]) {
        if (from !== peer.id && (from === id || peer.id === id)) act(transport, peer.address);
      }
    }
  }
}
