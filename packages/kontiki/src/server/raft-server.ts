import { messageOf } from '../common/errors.js';
import { type Logger, NULL_LOGGER, withPrefix } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import type { RaftProperties } from '../config/raft-properties.js';
import {
  AlreadyClosedException,
  AlreadyExistsException,
  GroupMismatchException,
  IllegalArgumentException,
} from '../protocol/exceptions.js';
import { createGroup, type RaftGroup } from '../protocol/group.js';
import { RaftGroupId, type RaftPeerId } from '../protocol/ids.js';
import type { AdminRequest, RaftClientReply, RaftClientRequest } from '../protocol/requests.js';
import { GrpcTransport } from '../rpc/grpc/index.js';
import { formatAddress } from '../rpc/listen-error.js';
import { AdminProtocolService } from '../rpc/ratis/server/admin-protocol-service.js';
import { ClientProtocolService } from '../rpc/ratis/server/client-protocol-service.js';
import { RaftServerProtocolService } from '../rpc/ratis/server/raft-server-protocol-service.js';
import { checkDefaultTransport } from '../rpc/rpc-type.js';
import { nodeFileSystem, nodeRuntime, type VirtualFileSystem } from '../runtime/index.js';
import type { StateMachine, StateMachineRegistry } from '../statemachine/types.js';
import { discoverGroups, removeGroupStorage } from '../storage/index.js';
import type { StartupOption } from '../storage/types.js';
import { AdminRequests } from './admin-requests.js';
import { Division } from './division.js';
import { type BoundAddress, Listeners } from './listeners.js';
import { PauseMonitor } from './pause-monitor.js';
import { PeerConnections } from './peer-connections.js';
import {
  groupsOf,
  propertiesOf,
  type RaftServerOptions,
  registryOf,
} from './raft-server-options.js';
import { RequestRouter } from './request-router.js';
import { Scheduler } from './scheduler.js';
import { readServerConfig, type ServerConfig } from './server-config.js';

/** How long open calls may go on when the server closes. */
const CLOSE_GRACE_MS = 1000;

/** A server that takes part in any number of groups (spec: consensus 1.5). */
export class RaftServer {
  readonly id: RaftPeerId;
  readonly properties: RaftProperties;
  readonly #config: ServerConfig;
  readonly #logger: Logger;
  readonly #runtime: Runtime;
  readonly #fileSystem: VirtualFileSystem;
  readonly #registry: StateMachineRegistry;
  readonly #startupOption: StartupOption | 'AUTO';
  readonly #groups: readonly RaftGroup[];
  readonly #divisions = new Map<string, Division>();
  readonly #scheduler: Scheduler;
  readonly #peers: PeerConnections;
  readonly #listeners: Listeners;
  readonly #clientService: ClientProtocolService;
  readonly #admin: AdminRequests;
  readonly #pauses: PauseMonitor;
  #starting: Promise<void> | undefined;
  #closing: Promise<void> | undefined;
  /** Additions of groups happen one after the other. */
  #lastAddition: Promise<void> = Promise.resolve();

  private constructor(options: RaftServerOptions) {
    this.id = options.id;
    this.properties = propertiesOf(options);
    this.#config = readServerConfig(this.properties);
    if (options.transport === undefined) checkDefaultTransport(this.properties);
    this.#logger = withPrefix(options.logger ?? NULL_LOGGER, options.id);
    for (const warning of this.properties.takeWarnings()) this.#logger.log('warn', warning);
    this.#runtime = options.runtime ?? nodeRuntime();
    this.#fileSystem = options.fileSystem ?? nodeFileSystem();
    this.#registry = registryOf(options);
    this.#startupOption = options.startupOption ?? 'AUTO';
    this.#groups = groupsOf(options);
    this.#scheduler = new Scheduler(this.#runtime);
    const tls = options.tls ?? {};
    const transport =
      options.transport ?? new GrpcTransport({ runtime: this.#runtime, logger: this.#logger });
    this.#peers = new PeerConnections(
      transport,
      { tls: tls.server ?? tls.default, limits: this.#config.transport },
      {
        heartbeatChannel: this.#config.heartbeatChannel,
        requestTimeoutMs: this.#config.rpcRequestTimeoutMs,
      },
    );
    this.#pauses = this.#createPauseMonitor();
    this.#admin = new AdminRequests(this);
    const router = new RequestRouter(this, this.#admin);
    this.#clientService = new ClientProtocolService(router);
    this.#listeners = new Listeners(transport, this.#config, tls, {
      server: new RaftServerProtocolService(router).definition,
      client: this.#clientService.definition,
      admin: new AdminProtocolService(router).definition,
    });
  }

  /**
   * A server that is not started. Throws InvalidArgumentError or ConfigurationError on options that
   * are not acceptable, TlsConfigurationError on a TLS slot that can't be used.
   */
  static create(options: RaftServerOptions): RaftServer {
    return new RaftServer(options);
  }

  /**
   * Opens the groups, then accepts requests. Rejects when one can't be opened or a port is taken;
   * everything is closed again then.
   */
  start(): Promise<void> {
    this.#starting ??= this.#start();
    return this.#starting;
  }

  /** Closes all groups, then the listeners. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** It was closed, or closes, by whoever it was: it does so itself after a very long pause. */
  get isClosed(): boolean {
    return this.#closing !== undefined;
  }

  get groupIds(): readonly RaftGroupId[] {
    return [...this.#divisions.values()].map((division) => division.groupId);
  }

  /** Address of the main listener, once it is bound. */
  get address(): BoundAddress {
    return this.#listeners.serverAddress;
  }

  get clientAddress(): BoundAddress {
    return this.#listeners.clientAddress;
  }

  get adminAddress(): BoundAddress {
    return this.#listeners.adminAddress;
  }

  findDivision(groupId: RaftGroupId): Division | undefined {
    return this.#divisions.get(groupId.uuid);
  }

  /** Throws GroupMismatchException when the group is not hosted here. */
  getDivision(groupId: RaftGroupId): Division {
    const division = this.findDivision(groupId);
    if (division !== undefined) return division;
    throw new GroupMismatchException(`${this.id}: ${groupId} not found.`);
  }

  /**
   * Carries a client's request out, without a socket. Rejects with errors that no reply can tell
   * (spec: consensus 7.9).
   */
  async submit(request: RaftClientRequest): Promise<RaftClientReply> {
    return this.getDivision(request.groupId).submitClientRequest(request);
  }

  /** Carries an admin request out, without a socket. */
  submitAdmin(request: AdminRequest): Promise<RaftClientReply> {
    return new Promise((resolve, reject) => {
      this.#admin.submit(request, { onReply: resolve, onFailure: reject });
    });
  }

  /**
   * Hosts another group from now on (spec: consensus 1.5). Rejects with AlreadyExistsException,
   * AlreadyClosedException, or what its start fails with.
   */
  addGroup(group: RaftGroup, format: boolean): Promise<void> {
    const addition = this.#lastAddition.then(() => this.#add(group, format ? 'FORMAT' : 'RECOVER'));
    this.#lastAddition = addition.catch(() => undefined);
    return addition;
  }

  /** Hosts a group no longer, and disposes of its directory if asked (spec: consensus 1.5). */
  async removeGroup(
    groupId: RaftGroupId,
    options: { readonly deleteDirectory: boolean; readonly renameDirectory: boolean },
  ): Promise<void> {
    const division = this.findDivision(groupId);
    if (division === undefined) {
      throw new GroupMismatchException(`${this.id}: Group ${groupId} not found.`);
    }
    this.#divisions.delete(groupId.uuid);
    const rootDirectory = division.storageDirectory;
    await division.close(true);
    division.stateMachine.events?.notifyGroupRemove?.();
    if (rootDirectory === undefined) return;
    await removeGroupStorage({
      fs: this.#fileSystem,
      logger: this.#logger,
      rootDirectory,
      groupUuid: groupId.uuid,
      deleteDirectory: options.deleteDirectory,
      renameDirectory: options.renameDirectory,
      removedGroupsDirectory: this.#config.removedGroupsDir,
    });
  }

  async #start(): Promise<void> {
    this.#checkOpen();
    try {
      const onDisk = await discoverGroups(this.#config.storageDirs, this.#fileSystem);
      for (const group of this.#groups) {
        const found = onDisk.includes(group.groupId.uuid) ? 'RECOVER' : 'FORMAT';
        this.#register(group, this.#startupOption === 'AUTO' ? found : this.#startupOption);
      }
      for (const uuid of onDisk) this.#registerFound(RaftGroupId.parse(uuid));
      await Promise.all([...this.#divisions.values()].map((division) => division.start()));
      this.#checkOpen();
      await this.#listeners.listen();
      this.#checkOpen();
    } catch (error) {
      await this.close();
      await this.#listeners.close(0);
      throw error;
    }
    this.#pauses.start();
    const count = this.#divisions.size;
    const address = formatAddress(this.address.host, this.address.port);
    this.#logger.log('info', `serves ${count} ${count === 1 ? 'group' : 'groups'} at ${address}`);
  }

  /** A group that is on disk but was not given: its configuration comes from there (spec: M-2). */
  #registerFound(groupId: RaftGroupId): void {
    if (this.#divisions.has(groupId.uuid)) return;
    const stateMachine = this.#registry(groupId);
    if (stateMachine === undefined) {
      this.#logger.log('warn', `${groupId} is on disk, but there is no state machine for it`);
      return;
    }
    this.#host(createGroup(groupId, []), 'RECOVER', stateMachine);
  }

  #register(group: RaftGroup, startupOption: StartupOption): Division {
    const stateMachine = this.#registry(group.groupId);
    if (stateMachine === undefined) {
      throw new IllegalArgumentException(`there is no state machine for ${group.groupId}`);
    }
    return this.#host(group, startupOption, stateMachine);
  }

  #host(group: RaftGroup, startupOption: StartupOption, stateMachine: StateMachine): Division {
    const division = new Division({
      selfId: this.id,
      group,
      startupOption,
      stateMachine,
      config: this.#config,
      fileSystem: this.#fileSystem,
      runtime: this.#runtime,
      logger: this.#logger,
      scheduler: this.#scheduler,
      stubsOf: (peer) => this.#peers.stubsOf(peer),
      leadershipLost: (groupId) => this.#clientService.leadershipLost(groupId),
    });
    this.#divisions.set(group.groupId.uuid, division);
    return division;
  }

  #checkOpen(): void {
    if (this.#closing !== undefined) throw new AlreadyClosedException(`${this.id} is closed`);
  }

  async #add(group: RaftGroup, startupOption: StartupOption): Promise<void> {
    this.#checkOpen();
    if (this.findDivision(group.groupId) !== undefined) {
      throw new AlreadyExistsException(`${this.id}: ${group.groupId} already exists.`);
    }
    const division = this.#register(group, startupOption);
    try {
      await division.start();
    } catch (error) {
      this.#divisions.delete(group.groupId.uuid);
      throw error;
    }
  }

  async #close(): Promise<void> {
    this.#pauses.stop();
    await this.#lastAddition;
    for (const division of this.#divisions.values()) this.#notifyShutdown(division);
    await Promise.all([...this.#divisions.values()].map((division) => division.close()));
    try {
      await this.#listeners.close(CLOSE_GRACE_MS);
    } catch (error) {
      this.#logger.log('error', `failed to close the listeners: ${messageOf(error)}`);
    }
    this.#peers.close(0);
    this.#scheduler.close();
  }

  #createPauseMonitor(): PauseMonitor {
    const { engine, closeThresholdMs } = this.#config;
    return new PauseMonitor({
      runtime: this.#runtime,
      logger: this.#logger,
      thresholdMs: engine.sleepDeviationThresholdMs,
      stepDownMs: engine.stepDownWaitTimeMs,
      closeMs: closeThresholdMs,
      stepDown: () => {
        for (const division of this.#divisions.values()) division.stepDownAfterPause();
      },
      close: () => void this.close(),
    });
  }

  #notifyShutdown(division: Division): void {
    if (division.lifeCycleState !== 'RUNNING') return;
    try {
      division.stateMachine.events?.notifyServerShutdown?.(division.roleInfo, true);
    } catch (error) {
      this.#logger.log('error', `notifyServerShutdown failed: ${messageOf(error)}`);
    }
  }
}
