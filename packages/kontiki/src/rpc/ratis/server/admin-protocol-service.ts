import { toError } from '../../../common/errors.js';
import {
  type AdminMethod,
  decodeAdminRequest,
  encodeGroupInfoReply,
  encodeGroupListReply,
} from '../../../proto/convert/index.js';
import type {
  GroupInfoReply,
  GroupListReply,
  RaftClientReply,
} from '../../../protocol/requests.js';
import type { ServerCall, ServiceDefinition } from '../../transport.js';
import type { RaftServerHandler } from './handler.js';
import { adminPath } from './method-paths.js';
import { ReplyEncoder } from './reply-encoder.js';
import { statusOfError } from './status.js';

const METHODS: readonly AdminMethod[] = [
  'setConfiguration',
  'transferLeadership',
  'groupManagement',
  'snapshotManagement',
  'leaderElectionManagement',
  'groupList',
  'groupInfo',
];

/** AdminProtocolService (spec: wire-grpc 8). */
export class AdminProtocolService {
  readonly #handler: RaftServerHandler;
  readonly #encoder = new ReplyEncoder();

  constructor(handler: RaftServerHandler) {
    this.#handler = handler;
  }

  get definition(): ServiceDefinition {
    const unary: Record<string, (call: ServerCall) => void> = {};
    for (const method of METHODS) {
      unary[adminPath(method)] = (call) => this.#serve(method, call);
    }
    return { unary };
  }

  #serve(method: AdminMethod, call: ServerCall): void {
    try {
      this.#handler.submitAdminRequest(decodeAdminRequest(method, call.request), {
        onReply: (reply) => call.reply(this.#encode(reply)),
        onFailure: (error) => call.fail(statusOfError(error)),
      });
    } catch (error) {
      call.fail(statusOfError(toError(error)));
    }
  }

  #encode(reply: RaftClientReply): Uint8Array {
    if (isGroupList(reply)) return encodeGroupListReply(reply);
    if (isGroupInfo(reply)) return encodeGroupInfoReply(reply);
    return this.#encoder.encode(reply);
  }
}

function isGroupList(reply: RaftClientReply): reply is GroupListReply {
  return 'groupIds' in reply;
}

function isGroupInfo(reply: RaftClientReply): reply is GroupInfoReply {
  return 'isRaftStorageHealthy' in reply;
}
