/**
 * Between messages and the objects of `protocol/`. Hot messages come from the hand codec
 * (`...FromWire`, `...ToWire`), cold ones go straight to bytes (`encode...`, `decode...`). What a
 * peer sent and cannot be accepted raises MalformedMessageError (no message of the protocol),
 * IllegalStateException (ids) or IllegalArgumentException (request types), as the status that
 * answers it demands (spec: wire-grpc 4.5).
 */
export {
  decodeGroupInfoReply,
  decodeGroupListReply,
  encodeGroupInfoReply,
  encodeGroupListReply,
} from './admin-reply.js';
export {
  type AdminMethod,
  adminMethodOf,
  decodeAdminRequest,
  encodeAdminRequest,
} from './admin-request.js';
export { clientReplyFromWire, clientReplyToWire } from './client-reply.js';
export { clientRequestFromWire, clientRequestToWire } from './client-request.js';
export { commitInfosFromWire, commitInfosToWire } from './commit-info.js';
export { exceptionOfClass } from './exception-class.js';
export {
  decodeInstallSnapshotReply,
  decodeInstallSnapshotRequest,
  encodeInstallSnapshotReply,
  encodeInstallSnapshotRequest,
} from './install-snapshot.js';
export {
  decodeReadIndexReply,
  decodeReadIndexRequest,
  encodeReadIndexReply,
  encodeReadIndexRequest,
} from './read-index.js';
export {
  EMPTY_STACK_TRACE,
  ExceptionCase,
  exceptionCaseOf,
  replyExceptionFromWire,
  replyExceptionToWire,
} from './reply-exception.js';
export {
  exceptionOfTrailers,
  type FailedCall,
  failedCallOfTrailers,
  trailersOfException,
} from './status-exception.js';
export {
  decodeRequestVoteReply,
  decodeRequestVoteRequest,
  decodeStartLeaderElectionReply,
  decodeStartLeaderElectionRequest,
  encodeRequestVoteReply,
  encodeRequestVoteRequest,
  encodeStartLeaderElectionReply,
  encodeStartLeaderElectionRequest,
} from './vote.js';
