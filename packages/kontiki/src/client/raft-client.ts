import { NULL_LOGGER } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import { RaftProperties } from '../config/raft-properties.js';
import { ClientId, type RaftGroupId, type RaftPeerId } from '../protocol/ids.js';
import { RETRY_FOREVER_NO_SLEEP } from '../protocol/retry/simple-policies.js';
import { GrpcTransport } from '../rpc/grpc/index.js';
import { Connections } from '../rpc/ratis/client/connections.js';
import { RequestEncoder } from '../rpc/ratis/client/request-encoder.js';
import { checkDefaultTransport } from '../rpc/rpc-type.js';
import { nodeRuntime } from '../runtime/node-runtime.js';
import { AdminApi } from './admin/admin-api.js';
import { GroupManagementApi } from './admin/group-management-api.js';
import { LeaderElectionManagementApi } from './admin/leader-election-management-api.js';
import { SnapshotManagementApi } from './admin/snapshot-management-api.js';
import { AsyncApi } from './async-api.js';
import { BlockingApi } from './blocking-api.js';
import { callIdsOf } from './call-ids.js';
import { ClientCore } from './client-core.js';
import { limitsOf, type RaftClientOptions, settingsOf } from './client-options.js';
import { LeaderTracker } from './leader-tracker.js';
import { MessageStreamApi } from './message-stream.js';
import { OrderedAsync } from './ordered-async.js';
import { UnorderedAsync } from './unordered-async.js';

/** One world for all clients that are given none, so that they share call ids and known leaders. */
let processRuntime: Runtime | undefined;

/** How long idle streams have to say goodbye when a client is closed. */
const CLOSE_GRACE_MS = 1_000;

/** A random (version 4) UUID. */
function randomClientId(runtime: Runtime): ClientId {
  const bytes = Uint8Array.from(runtime.random.bytes(16));
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  return ClientId.of(bytes);
}

/**
 * A client of one group (spec: client 2, 3). It finds the leader, follows it when it changes, and
 * repeats what failed as its retry policy says; servers carry out a repeated write once.
 *
 * The default policy retries for ever. Policies without sleep are paced all the same: the first
 * three attempts of a request follow each other at once, later ones after 1 to 50 ms, and a server
 * that cannot be reached is tried again after 0.1 to 1 s. Give calls an AbortSignal, or the client
 * another policy, to bound them.
 *
 * Close it, or declare it with `await using`: an open client keeps connections, and so the process,
 * alive.
 */
export class RaftClient {
  readonly #core: ClientCore;
  readonly #async: AsyncApi;
  readonly #io: BlockingApi;
  readonly #admin: AdminApi;
  readonly #messageStream: MessageStreamApi;
  readonly #groupManagement = new Map<RaftPeerId, GroupManagementApi>();
  readonly #snapshotManagement = new Map<RaftPeerId | undefined, SnapshotManagementApi>();
  readonly #electionManagement = new Map<RaftPeerId, LeaderElectionManagementApi>();
  #closing: Promise<void> | undefined;

  private constructor(core: ClientCore) {
    this.#core = core;
    const ordered = new OrderedAsync(core);
    this.#async = new AsyncApi(ordered, new UnorderedAsync(core));
    this.#io = new BlockingApi(core);
    this.#admin = new AdminApi(core);
    this.#messageStream = new MessageStreamApi(core, ordered);
  }

  /**
   * Makes a client; nothing is connected before its first call. Throws InvalidArgumentError when
   * the group has no peers, ConfigurationError on a bad property.
   */
  static create(options: RaftClientOptions): RaftClient {
    processRuntime ??= nodeRuntime();
    const runtime = options.runtime ?? processRuntime;
    const logger = options.logger ?? NULL_LOGGER;
    const properties = options.properties ?? new RaftProperties();
    for (const warning of properties.takeWarnings()) logger.log('warn', warning);
    if (options.transport === undefined) checkDefaultTransport(properties);
    const limits = limitsOf(properties);
    const tls = options.tls ?? {};
    const transport = options.transport ?? new GrpcTransport({ runtime, logger });
    const connections = new Connections(
      {
        transport,
        client: { tls: tls.client ?? tls.default, limits },
        admin: { tls: tls.admin ?? tls.default, limits },
      },
      runtime,
    );
    const clientId = options.clientId ?? randomClientId(runtime);
    const groupId = options.group.groupId;
    const core = new ClientCore({
      clientId,
      groupId,
      runtime,
      logger,
      settings: settingsOf(properties),
      retryPolicy: options.retryPolicy ?? RETRY_FOREVER_NO_SLEEP,
      connections,
      leader: new LeaderTracker(options.group, options.leaderId, connections, runtime),
      callIds: callIdsOf(runtime),
      encoder: new RequestEncoder({ clientId, groupId }),
    });
    return new RaftClient(core);
  }

  get id(): ClientId {
    return this.#core.clientId;
  }

  get groupId(): RaftGroupId {
    return this.#core.groupId;
  }

  /** The current guess. */
  get leaderId(): RaftPeerId {
    return this.#core.leader.leaderId;
  }

  /** Requests over shared streams: ordered ones, and reads and watches without order. */
  async(): AsyncApi {
    return this.#async;
  }

  /** Requests with a stream of their own each. */
  io(): BlockingApi {
    return this.#io;
  }

  admin(): AdminApi {
    return this.#admin;
  }

  messageStream(): MessageStreamApi {
    return this.#messageStream;
  }

  groupManagement(serverId: RaftPeerId): GroupManagementApi {
    return cached(
      this.#groupManagement,
      serverId,
      () => new GroupManagementApi(this.#core, serverId),
    );
  }

  /** Of one server, or of whoever is leader. */
  snapshotManagement(serverId?: RaftPeerId): SnapshotManagementApi {
    return cached(
      this.#snapshotManagement,
      serverId,
      () => new SnapshotManagementApi(this.#core, serverId),
    );
  }

  leaderElectionManagement(serverId: RaftPeerId): LeaderElectionManagementApi {
    return cached(
      this.#electionManagement,
      serverId,
      () => new LeaderElectionManagementApi(this.#core, serverId),
    );
  }

  /**
   * Rejects everything that is outstanding with AlreadyClosedException and closes all connections;
   * resolves when the sockets are gone. Further calls return the same promise.
   */
  close(): Promise<void> {
    this.#closing ??= new Promise((resolve) => {
      this.#core.close();
      this.#core.connections.close(CLOSE_GRACE_MS, resolve);
    });
    return this.#closing;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }
}

function cached<K, V>(map: Map<K, V>, key: K, create: () => V): V {
  let value = map.get(key);
  if (value === undefined) {
    value = create();
    map.set(key, value);
  }
  return value;
}
