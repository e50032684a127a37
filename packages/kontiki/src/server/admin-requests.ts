import { toError } from '../common/errors.js';
import { GroupMismatchException } from '../protocol/exceptions.js';
import type { RaftGroup } from '../protocol/group.js';
import type { RaftGroupId, RaftPeerId } from '../protocol/ids.js';
import type {
  AdminRequest,
  GroupInfoReply,
  GroupListReply,
  RaftClientReply,
} from '../protocol/requests.js';
import type { ReplySink } from '../rpc/ratis/server/handler.js';
import type { Division } from './division.js';
import type { Membership } from './membership.js';

/** What admin requests need of the server. */
export interface AdminHost {
  readonly id: RaftPeerId;
  readonly groupIds: readonly RaftGroupId[];
  /** Throws GroupMismatchException when the group is not hosted here. */
  getDivision(groupId: RaftGroupId): Division;
  addGroup(group: RaftGroup, format: boolean): Promise<void>;
  removeGroup(
    groupId: RaftGroupId,
    options: { readonly deleteDirectory: boolean; readonly renameDirectory: boolean },
  ): Promise<void>;
}

/** Serves admin requests (spec: consensus 1.5, 5.2, 7.8). */
export class AdminRequests {
  readonly #host: AdminHost;

  constructor(host: AdminHost) {
    this.#host = host;
  }

  submit(request: AdminRequest, sink: ReplySink): void {
    this.#serve(request).then(
      (reply) => sink.onReply(reply),
      (error) => sink.onFailure(toError(error)),
    );
  }

  async #serve(request: AdminRequest): Promise<RaftClientReply> {
    const { operation } = request;
    switch (operation.kind) {
      case 'groupList': {
        const reply: GroupListReply = { ...this.#success(request), groupIds: this.#host.groupIds };
        return reply;
      }
      case 'groupInfo':
        return this.#groupInfo(request);
      case 'groupAdd':
        if (!operation.group.groupId.equals(request.groupId)) {
          const text = `the request is for ${request.groupId}, but adds ${operation.group.groupId}`;
          throw new GroupMismatchException(`${this.#host.id}: ${text}`);
        }
        await this.#host.addGroup(operation.group, operation.format);
        return this.#success(request);
      case 'groupRemove':
        await this.#host.removeGroup(operation.removedGroupId, operation);
        return this.#success(request);
      case 'snapshotCreate': {
        const division = this.#host.getDivision(request.groupId);
        const index = await division.takeSnapshot(operation.creationGap, request.timeoutMs);
        return { ...this.#success(request), logIndex: index, commitInfos: division.commitInfos };
      }
      case 'setConfiguration':
        return this.#membership(request).setConfiguration(request, operation);
      case 'transferLeadership': {
        const { newLeader } = operation;
        return this.#membership(request).transferLeadership(request, newLeader, request.timeoutMs);
      }
      case 'electionPause':
      case 'electionResume': {
        const paused = operation.kind === 'electionPause';
        return this.#membership(request).setElectionsPaused(request, paused);
      }
    }
  }

  #membership(request: AdminRequest): Membership {
    return this.#host.getDivision(request.groupId).membership;
  }

  async #groupInfo(request: AdminRequest): Promise<GroupInfoReply> {
    const division = this.#host.getDivision(request.groupId);
    return {
      ...this.#success(request),
      commitInfos: division.commitInfos,
      group: division.group,
      role: division.roleInfo,
      isRaftStorageHealthy: await division.isStorageHealthy(),
      conf: division.configuration,
      logInfo: division.logInfo,
    };
  }

  #success(request: AdminRequest): RaftClientReply {
    return {
      clientId: request.clientId,
      serverId: this.#host.id,
      groupId: request.groupId,
      callId: request.callId,
      success: true,
      message: undefined,
      exception: undefined,
      logIndex: 0,
      commitInfos: [],
    };
  }
}
