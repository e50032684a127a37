import { IllegalArgumentException } from '../../protocol/exceptions.js';
import {
  type RaftClientRequest,
  ReplicationLevel,
  type RequestType,
} from '../../protocol/requests.js';
import { ClientRequestCase, type ClientRequestMessage } from '../wire/types.js';
import { toInteger } from './numbers.js';
import { requireClientId, requireGroupId, requirePeerId } from './peer.js';

const EMPTY = new Uint8Array(0);

const LEVELS: readonly number[] = Object.values(ReplicationLevel);

export function isReplicationLevel(value: number): value is ReplicationLevel {
  return LEVELS.includes(value);
}

/** Throws IllegalArgumentException on a level that is not known (spec: wire-grpc 11, quirk 19). */
function requireReplicationLevel(value: number): ReplicationLevel {
  if (isReplicationLevel(value)) return value;
  throw new IllegalArgumentException(`unknown replication level ${value}`);
}

/** What is asked for. Throws IllegalArgumentException when nothing is (spec: wire-grpc 4.5). */
function typeFromWire(m: ClientRequestMessage): RequestType {
  switch (m.type) {
    case ClientRequestCase.WRITE:
      return { kind: 'write', replication: requireReplicationLevel(m.replication) };
    case ClientRequestCase.READ:
      return {
        kind: 'read',
        preferNonLinearizable: m.preferNonLinearizable,
        readAfterWriteConsistent: m.readAfterWriteConsistent,
        dummy: m.dummy,
      };
    case ClientRequestCase.STALE_READ:
      return { kind: 'staleRead', minIndex: toInteger(m.index) };
    case ClientRequestCase.WATCH: {
      const replication = requireReplicationLevel(m.replication);
      return { kind: 'watch', index: toInteger(m.index), replication };
    }
    case ClientRequestCase.MESSAGE_STREAM: {
      const { streamId, messageId, endOfRequest } = m;
      return { kind: 'messageStream', streamId, messageId, endOfRequest };
    }
    case ClientRequestCase.DATA_STREAM:
      return { kind: 'dataStream' };
    case ClientRequestCase.FORWARD:
      return { kind: 'forward' };
    default:
      throw new IllegalArgumentException('Unexpected request type: TYPE_NOT_SET');
  }
}

/**
 * Throws IllegalStateException on ids that are not acceptable, IllegalArgumentException on a
 * missing type or an unknown level (spec: wire-grpc 4.5), NumberOutOfRangeException on an index
 * beyond 2^53. Byte fields stay views.
 */
export function clientRequestFromWire(m: ClientRequestMessage): RaftClientRequest {
  return {
    clientId: requireClientId(m.requestorId),
    serverId: requirePeerId(m.replyId, 'replyId'),
    groupId: requireGroupId(m.raftGroupId),
    callId: m.callId,
    toLeader: m.toLeader,
    repliedCallIds: m.repliedCallIds,
    timeoutMs: toInteger(m.timeoutMs),
    message: m.content ?? EMPTY,
    type: typeFromWire(m),
    slidingWindowEntry:
      m.seqNum === undefined ? undefined : { seqNum: toInteger(m.seqNum), isFirst: m.isFirst },
    routingTable: m.routingTable,
    spanContext: m.spanContext,
  };
}

type TypeFields = Pick<
  ClientRequestMessage,
  | 'type'
  | 'replication'
  | 'preferNonLinearizable'
  | 'readAfterWriteConsistent'
  | 'dummy'
  | 'index'
  | 'streamId'
  | 'messageId'
  | 'endOfRequest'
>;

const NO_TYPE: TypeFields = {
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

function typeToWire(type: RequestType): TypeFields {
  switch (type.kind) {
    case 'write':
      return { ...NO_TYPE, type: ClientRequestCase.WRITE, replication: type.replication };
    case 'read': {
      const { preferNonLinearizable, readAfterWriteConsistent, dummy } = type;
      const flags = { preferNonLinearizable, readAfterWriteConsistent, dummy };
      return { ...NO_TYPE, type: ClientRequestCase.READ, ...flags };
    }
    case 'staleRead':
      return { ...NO_TYPE, type: ClientRequestCase.STALE_READ, index: type.minIndex };
    case 'watch': {
      const { index, replication } = type;
      return { ...NO_TYPE, type: ClientRequestCase.WATCH, index, replication };
    }
    case 'messageStream': {
      const { streamId, messageId, endOfRequest } = type;
      const fields = { streamId, messageId, endOfRequest };
      return { ...NO_TYPE, type: ClientRequestCase.MESSAGE_STREAM, ...fields };
    }
    case 'dataStream':
      return { ...NO_TYPE, type: ClientRequestCase.DATA_STREAM };
    case 'forward':
      return { ...NO_TYPE, type: ClientRequestCase.FORWARD };
  }
}

/** An empty message is left out: a reader cannot tell the difference (spec: wire-grpc 2.2). */
export function clientRequestToWire(request: RaftClientRequest): ClientRequestMessage {
  const window = request.slidingWindowEntry;
  return {
    requestorId: request.clientId.bytes,
    replyId: request.serverId,
    raftGroupId: request.groupId.bytes,
    callId: request.callId,
    toLeader: request.toLeader,
    spanContext: request.spanContext,
    routingTable: request.routingTable,
    repliedCallIds: request.repliedCallIds,
    timeoutMs: request.timeoutMs,
    seqNum: window?.seqNum,
    isFirst: window?.isFirst ?? false,
    content: request.message.length === 0 ? undefined : request.message,
    ...typeToWire(request.type),
  };
}
