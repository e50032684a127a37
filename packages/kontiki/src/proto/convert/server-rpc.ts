import { create } from '@bufbuild/protobuf';
import type { ServerRpc } from '../../protocol/server-messages.js';
import {
  type RaftRpcReplyProto,
  RaftRpcReplyProtoSchema,
  type RaftRpcRequestProto,
  RaftRpcRequestProtoSchema,
} from '../gen/ratis/common/rpc_pb.js';
import { decodeUtf8, utf8Of } from '../wire/text.js';
import { toCallId, toUint64 } from './numbers.js';
import { requireGroupId, requirePeerId } from './peer.js';

const EMPTY = new Uint8Array(0);

function headFields(rpc: ServerRpc) {
  return {
    requestorId: utf8Of(rpc.requestorId),
    replyId: utf8Of(rpc.replyId),
    raftGroupId: { id: rpc.groupId.bytes },
    callId: toUint64(rpc.callId),
  };
}

export function requestHead(rpc: ServerRpc): RaftRpcRequestProto {
  return create(RaftRpcRequestProtoSchema, headFields(rpc));
}

export function replyHead(rpc: ServerRpc, success: boolean): RaftRpcReplyProto {
  return create(RaftRpcReplyProtoSchema, { ...headFields(rpc), success });
}

/**
 * Head of a message between servers. Throws IllegalStateException on an empty requestor and a wrong
 * group id (spec: wire-grpc 7.1).
 */
export function serverRpcOf(proto: RaftRpcRequestProto | RaftRpcReplyProto | undefined): ServerRpc {
  return {
    requestorId: requirePeerId(decodeUtf8(proto?.requestorId ?? EMPTY), 'requestorId'),
    replyId: decodeUtf8(proto?.replyId ?? EMPTY),
    groupId: requireGroupId(proto?.raftGroupId?.id),
    callId: toCallId(proto?.callId ?? 0n),
  };
}
