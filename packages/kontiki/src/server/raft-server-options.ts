import { InvalidArgumentError } from '../common/errors.js';
import type { Logger } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import { RaftProperties } from '../config/raft-properties.js';
import type { RaftOptions } from '../config/registry.js';
import type { RaftGroup } from '../protocol/group.js';
import type { RaftGroupId, RaftPeerId } from '../protocol/ids.js';
import type { RpcTransport } from '../rpc/transport.js';
import type { VirtualFileSystem } from '../runtime/index.js';
import type { StateMachine, StateMachineRegistry } from '../statemachine/types.js';
import type { StartupOption } from '../storage/types.js';
import type { TlsSlots } from './listeners.js';
import { listenAtOwnAddresses } from './own-listeners.js';

/** Options of `RaftServer.create`. */
export interface RaftServerOptions {
  /** Name of this server in its groups. */
  readonly id: RaftPeerId;
  /** The groups to serve; groups found on disk are served besides (spec: M-2). */
  readonly group?: RaftGroup;
  readonly groups?: readonly RaftGroup[];
  /** The machine of the only group, or a machine for each group, also those found on disk. */
  readonly stateMachine?: StateMachine;
  readonly stateMachineRegistry?: StateMachineRegistry;
  /** Configuration by key, as values or text. */
  readonly options?: RaftOptions;
  /** Configuration that exists already; `options` are set on a copy of it. */
  readonly properties?: RaftProperties;
  /**
   * For the given groups. FORMAT wants no directory, RECOVER wants one (spec: consensus 1.5); AUTO,
   * the default, recovers what is there and formats what is not.
   */
  readonly startupOption?: StartupOption | 'AUTO';
  readonly tls?: TlsSlots;
  /** Default: gRPC. */
  readonly transport?: RpcTransport;
  readonly runtime?: Runtime;
  readonly fileSystem?: VirtualFileSystem;
  /** Default: nothing is logged. */
  readonly logger?: Logger;
}

/**
 * The groups of the options. Throws InvalidArgumentError when this server is not in one of them, or
 * one occurs twice.
 */
export function groupsOf(options: RaftServerOptions): RaftGroup[] {
  const groups = [
    ...(options.group === undefined ? [] : [options.group]),
    ...(options.groups ?? []),
  ];
  const seen = new Set<string>();
  for (const { groupId, peers } of groups) {
    if (seen.has(groupId.uuid)) throw new InvalidArgumentError(`${groupId} is given twice`);
    seen.add(groupId.uuid);
    if (peers.length > 0 && !peers.some((peer) => peer.id === options.id)) {
      throw new InvalidArgumentError(`server ${options.id} is not in ${groupId}`);
    }
  }
  return groups;
}

/**
 * The configuration of the options, with the listeners at this server's own addresses unless it
 * says otherwise. Throws ConfigurationError on a value that is not acceptable.
 */
export function propertiesOf(options: RaftServerOptions): RaftProperties {
  const properties = givenProperties(options);
  const self = groupsOf(options)
    .flatMap((group) => group.peers)
    .find((peer) => peer.id === options.id);
  if (self !== undefined) listenAtOwnAddresses(properties, self);
  return properties;
}

function givenProperties(options: RaftServerOptions): RaftProperties {
  const context = options.logger === undefined ? {} : { logger: options.logger };
  if (options.properties === undefined) return RaftProperties.from(options.options ?? {}, context);
  const properties = options.properties.copy();
  for (const [key, value] of Object.entries(options.options ?? {})) {
    if (value !== undefined) properties.setRaw(key, String(value));
  }
  return properties;
}

/**
 * Gives each group its machine. Throws InvalidArgumentError when both or none of the two options
 * are set.
 */
export function registryOf(options: RaftServerOptions): StateMachineRegistry {
  const { stateMachine, stateMachineRegistry } = options;
  if ((stateMachine === undefined) === (stateMachineRegistry === undefined)) {
    throw new InvalidArgumentError('give either stateMachine or stateMachineRegistry');
  }
  if (stateMachineRegistry !== undefined) return stateMachineRegistry;
  let taken: RaftGroupId | undefined;
  return (groupId) => {
    // One machine can't hold the state of two groups.
    if (taken !== undefined && !taken.equals(groupId)) return undefined;
    taken = groupId;
    return stateMachine;
  };
}
