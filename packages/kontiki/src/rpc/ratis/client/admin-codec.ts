import {
  adminMethodOf,
  clientReplyFromWire,
  decodeGroupInfoReply,
  decodeGroupListReply,
} from '../../../proto/convert/index.js';
import { decodeClientReply } from '../../../proto/wire/index.js';
import type { AdminOperation, RaftClientReply } from '../../../protocol/requests.js';
import { ADMIN_SERVICE } from './method-paths.js';

/** Full path of the method that carries `operation` out (spec: wire-grpc 1.2). */
export function adminPathOf(operation: AdminOperation): string {
  return `${ADMIN_SERVICE}/${adminMethodOf(operation)}`;
}

/**
 * The reply to `operation`: a GroupListReply or GroupInfoReply for these. Throws
 * MalformedMessageError, IllegalStateException on wrong ids.
 */
export function decodeAdminReply(operation: AdminOperation, bytes: Uint8Array): RaftClientReply {
  switch (operation.kind) {
    case 'groupList':
      return decodeGroupListReply(bytes);
    case 'groupInfo':
      return decodeGroupInfoReply(bytes);
    default:
      return clientReplyFromWire(decodeClientReply(bytes));
  }
}
