import type { RaftGroup } from '../../protocol/group.js';
import type { RaftGroupId, RaftPeerId } from '../../protocol/ids.js';
import type { GroupInfoReply, GroupListReply, RaftClientReply } from '../../protocol/requests.js';
import type { ClientCore } from '../client-core.js';
import type { CallOptions } from '../request-types.js';
import { sendAdmin } from './admin-call.js';

export interface GroupAddOptions extends CallOptions {
  /** True (the default) formats the storage, false recovers what is there. */
  readonly format?: boolean;
}

export interface GroupRemoveOptions extends CallOptions {
  /** Deletes the group's directory. Wins over `renameDirectory`. */
  readonly deleteDirectory?: boolean;
  /** Moves it to `raft.server.removed.groups.dir`. Without either it stays. */
  readonly renameDirectory?: boolean;
}

/** The groups of one server (spec: client 3, 15). */
export class GroupManagementApi {
  readonly #core: ClientCore;
  readonly #serverId: RaftPeerId;

  constructor(core: ClientCore, serverId: RaftPeerId) {
    this.#core = core;
    this.#serverId = serverId;
  }

  /** Starts a division of `group` there. Rejects with AlreadyExistsException when there is one. */
  add(group: RaftGroup, options?: GroupAddOptions): Promise<RaftClientReply> {
    this.#core.connections.addPeers(group.peers);
    return sendAdmin(this.#core, {
      operation: { kind: 'groupAdd', group, format: options?.format ?? true },
      serverId: this.#serverId,
      toLeader: false,
      groupId: group.groupId,
      signal: options?.signal,
    });
  }

  /** Ends the division. Rejects with GroupMismatchException when there is none. */
  remove(groupId: RaftGroupId, options?: GroupRemoveOptions): Promise<RaftClientReply> {
    return sendAdmin(this.#core, {
      operation: {
        kind: 'groupRemove',
        removedGroupId: groupId,
        deleteDirectory: options?.deleteDirectory ?? false,
        renameDirectory: options?.renameDirectory ?? false,
      },
      serverId: this.#serverId,
      toLeader: false,
      groupId,
      signal: options?.signal,
    });
  }

  /** All groups of the server. One attempt only. */
  list(options?: CallOptions): Promise<GroupListReply> {
    return sendAdmin<GroupListReply>(this.#core, {
      operation: { kind: 'groupList' },
      serverId: this.#serverId,
      toLeader: false,
      signal: options?.signal,
    });
  }

  /** What the server knows of a group: the client's own unless named. One attempt only. */
  info(groupId?: RaftGroupId, options?: CallOptions): Promise<GroupInfoReply> {
    return sendAdmin<GroupInfoReply>(this.#core, {
      operation: { kind: 'groupInfo' },
      serverId: this.#serverId,
      toLeader: false,
      ...(groupId === undefined ? {} : { groupId }),
      signal: options?.signal,
    });
  }
}
