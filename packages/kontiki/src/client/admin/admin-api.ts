import { InvalidArgumentError } from '../../common/errors.js';
import type { RaftPeerId } from '../../protocol/ids.js';
import type { RaftPeer } from '../../protocol/peer.js';
import type { RaftClientReply, SetConfigurationMode } from '../../protocol/requests.js';
import type { ClientCore } from '../client-core.js';
import type { CallOptions } from '../request-types.js';
import { sendAdmin } from './admin-call.js';

/** The members that a group is to have (spec: client 3). */
export interface SetConfigurationArguments {
  readonly servers: readonly RaftPeer[];
  readonly listeners?: readonly RaftPeer[];
  /**
   * SET_UNCONDITIONALLY when absent. ADD merges; COMPARE_AND_SET fails unless the current members
   * are as given.
   */
  readonly mode?: SetConfigurationMode;
  readonly currentServers?: readonly RaftPeer[];
  readonly currentListeners?: readonly RaftPeer[];
}

export interface TransferOptions extends CallOptions {
  /** The current leader, when the caller knows it better than the client. */
  readonly leaderId?: RaftPeerId;
}

function checkUnique(peers: readonly RaftPeer[], what: string): void {
  const ids = new Set(peers.map((peer) => peer.id));
  if (ids.size !== peers.length) throw new InvalidArgumentError(`a peer occurs twice in ${what}`);
}

/** Changes of membership and leadership, carried out by the leader (spec: client 3, 15). */
export class AdminApi {
  readonly #core: ClientCore;

  constructor(core: ClientCore) {
    this.#core = core;
  }

  /**
   * Changes members, or their priorities. Resolves when the new configuration is committed. Rejects
   * with SetConfigurationException when the servers refuse, and with InvalidArgumentError when a
   * peer occurs twice.
   */
  async setConfiguration(
    configuration: readonly RaftPeer[] | SetConfigurationArguments,
    options?: CallOptions,
  ): Promise<RaftClientReply> {
    const wanted = isPeerList(configuration) ? { servers: configuration } : configuration;
    const peers = wanted.servers;
    const listeners = wanted.listeners ?? [];
    const currentPeers = wanted.currentServers ?? [];
    const currentListeners = wanted.currentListeners ?? [];
    checkUnique(peers, 'servers');
    checkUnique(listeners, 'listeners');
    checkUnique(currentPeers, 'currentServers');
    checkUnique(currentListeners, 'currentListeners');
    this.#core.connections.addPeers([...peers, ...listeners]);
    const mode = wanted.mode ?? 'SET_UNCONDITIONALLY';
    const operation = {
      kind: 'setConfiguration',
      peers,
      listeners,
      mode,
      currentPeers,
      currentListeners,
    } as const;
    return sendAdmin(this.#core, {
      operation,
      serverId: undefined,
      toLeader: true,
      signal: options?.signal,
    });
  }

  /**
   * Makes `newLeader` the leader, or the leader step down when it is undefined. Rejects with
   * TransferLeadershipException when that is refused or not done within `timeoutMs`.
   */
  transferLeadership(
    newLeader: RaftPeerId | undefined,
    timeoutMs: number,
    options?: TransferOptions,
  ): Promise<RaftClientReply> {
    return sendAdmin(this.#core, {
      operation: { kind: 'transferLeadership', newLeader },
      serverId: options?.leaderId,
      toLeader: true,
      timeoutMs,
      signal: options?.signal,
    });
  }
}

function isPeerList(
  configuration: readonly RaftPeer[] | SetConfigurationArguments,
): configuration is readonly RaftPeer[] {
  return Array.isArray(configuration);
}
