import { encodeClientRequest } from '../../../proto/wire/index.js';
import { ClientRequestCase, type ClientRequestMessage } from '../../../proto/wire/types.js';
import type { CallId, RaftPeerId } from '../../../protocol/ids.js';
import type { RequestType } from '../../../protocol/requests.js';
import type { ReplyOwner } from './reply.js';

/** A client's request, as far as it is the same in every attempt. */
export interface RequestBody {
  readonly callId: CallId;
  readonly toLeader: boolean;
  readonly repliedCallIds: readonly CallId[];
  /** Undefined when the request carries no message. */
  readonly content: Uint8Array | undefined;
  readonly type: RequestType;
}

/**
 * Encodes the requests of one client (spec: wire-grpc 2.4). Keeps one message object that it fills
 * again and again.
 */
export class RequestEncoder {
  readonly #message: ClientRequestMessage;

  constructor(owner: ReplyOwner) {
    this.#message = emptyMessage(owner);
  }

  /** `seqNum` is undefined on the unordered stream. */
  encode(
    body: RequestBody,
    serverId: RaftPeerId,
    seqNum: number | undefined,
    isFirst: boolean,
  ): Uint8Array {
    const message = this.#message;
    message.replyId = serverId;
    message.callId = body.callId;
    message.toLeader = body.toLeader;
    message.repliedCallIds = body.repliedCallIds;
    message.seqNum = seqNum;
    message.isFirst = isFirst;
    message.content = body.content;
    fillType(message, body.type);
    const bytes = encodeClientRequest(message);
    message.content = undefined;
    return bytes;
  }
}

function emptyMessage(owner: ReplyOwner): ClientRequestMessage {
  return {
    requestorId: owner.clientId.bytes,
    replyId: '',
    raftGroupId: owner.groupId.bytes,
    callId: 0,
    toLeader: false,
    spanContext: undefined,
    routingTable: undefined,
    repliedCallIds: [],
    timeoutMs: 0,
    seqNum: undefined,
    isFirst: false,
    content: undefined,
    type: ClientRequestCase.NOT_SET,
    replication: 0,
    preferNonLinearizable: false,
    readAfterWriteConsistent: false,
    dummy: false,
    index: 0,
    streamId: 0,
    messageId: 0,
    endOfRequest: false,
  };
}

function fillType(message: ClientRequestMessage, type: RequestType): void {
  switch (type.kind) {
    case 'write':
      message.type = ClientRequestCase.WRITE;
      message.replication = type.replication;
      return;
    case 'read':
      message.type = ClientRequestCase.READ;
      message.preferNonLinearizable = type.preferNonLinearizable;
      message.readAfterWriteConsistent = type.readAfterWriteConsistent;
      message.dummy = type.dummy;
      return;
    case 'staleRead':
      message.type = ClientRequestCase.STALE_READ;
      message.index = type.minIndex;
      return;
    case 'watch':
      message.type = ClientRequestCase.WATCH;
      message.index = type.index;
      message.replication = type.replication;
      return;
    case 'messageStream':
      message.type = ClientRequestCase.MESSAGE_STREAM;
      message.streamId = type.streamId;
      message.messageId = type.messageId;
      message.endOfRequest = type.endOfRequest;
      return;
    case 'dataStream':
      message.type = ClientRequestCase.DATA_STREAM;
      return;
    case 'forward':
      message.type = ClientRequestCase.FORWARD;
  }
}
