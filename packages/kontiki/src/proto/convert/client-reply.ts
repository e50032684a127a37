import { IllegalStateException, NotReplicatedException } from '../../protocol/exceptions.js';
import { memberIdText } from '../../protocol/ids.js';
import type { RaftClientReply } from '../../protocol/requests.js';
import type { ClientReplyMessage, CommitInfoMessage } from '../wire/types.js';
import { commitInfosFromWire, commitInfosToWire } from './commit-info.js';
import { toInteger } from './numbers.js';
import { requireClientId, requireGroupId, requirePeerId } from './peer.js';
import { replyExceptionFromWire, replyExceptionToWire } from './reply-exception.js';

/**
 * Throws IllegalStateException on ids that are not acceptable and on success together with an
 * exception (spec: wire-grpc 6.1), MalformedMessageError on an exception or a peer that cannot be
 * read, NumberOutOfRangeException. Byte fields stay views.
 */
export function clientReplyFromWire(m: ClientReplyMessage): RaftClientReply {
  const serverId = requirePeerId(m.replyId, 'replyId');
  const groupId = requireGroupId(m.raftGroupId);
  const commitInfos = commitInfosFromWire(m.commitInfos);
  const exception =
    m.exception === undefined
      ? undefined
      : replyExceptionFromWire(m.exceptionCase, m.exception, memberIdText(serverId, groupId));
  if (m.success && exception !== undefined) {
    throw new IllegalStateException(`reply of success with a ${exception.name}`);
  }
  if (exception instanceof NotReplicatedException) exception.commitInfos = commitInfos;
  return {
    clientId: requireClientId(m.requestorId),
    serverId,
    groupId,
    callId: m.callId,
    success: m.success,
    message: m.content,
    exception,
    logIndex: toInteger(m.logIndex),
    commitInfos,
  };
}

/**
 * `commitInfos` may be given with its peers encoded already, which spares encoding them for each
 * reply. Throws InvalidArgumentError when the exception is of a kind that replies cannot carry.
 */
export function clientReplyToWire(
  reply: RaftClientReply,
  commitInfos: readonly CommitInfoMessage[] = commitInfosToWire(reply.commitInfos),
): ClientReplyMessage {
  const { exception } = reply;
  return {
    requestorId: reply.clientId.bytes,
    replyId: reply.serverId,
    raftGroupId: reply.groupId.bytes,
    callId: reply.callId,
    success: reply.success,
    content: reply.message,
    ...(exception === undefined
      ? { exceptionCase: 0, exception: undefined }
      : replyExceptionToWire(exception)),
    logIndex: reply.logIndex,
    commitInfos,
  };
}
