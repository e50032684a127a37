import type { ReadIndexReply, ReadIndexRequest } from '../../protocol/server-messages.js';
import { RaftRpcRequestProtoSchema } from '../gen/ratis/common/rpc_pb.js';
import { ReadIndexReplyProtoSchema } from '../gen/ratis/common/server_pb.js';
import { decodeClientRequest, encodeClientRequest } from '../wire/client-request.js';
import { joinSerialized } from '../wire/merge.js';
import { Reader } from '../wire/reader.js';
import { commonHeadSize, writeCommonHead } from '../wire/rpc-head.js';
import { utf8Of } from '../wire/text.js';
import { lengthFieldSize, Writer } from '../wire/writer.js';
import { clientRequestFromWire, clientRequestToWire } from './client-request.js';
import { parseMessage, serialize } from './message.js';
import { toInteger, toUint64 } from './numbers.js';
import { replyHead, serverRpcOf } from './server-rpc.js';

const EMPTY = new Uint8Array(0);

/** ReadIndexRequestProto: the client's request goes without its message (spec: wire-grpc 7.7). */
export function encodeReadIndexRequest(request: ReadIndexRequest): Uint8Array {
  const requestorId = utf8Of(request.requestorId);
  const replyId = utf8Of(request.replyId);
  const groupId = request.groupId.bytes;
  const head = commonHeadSize(requestorId, replyId, groupId, request.callId);
  const client = encodeClientRequest({
    ...clientRequestToWire(request.clientRequest),
    content: undefined,
  });
  const writer = new Writer(lengthFieldSize(head) + lengthFieldSize(client.length));
  writer.head(0x0a, head);
  writeCommonHead(writer, requestorId, replyId, groupId, request.callId);
  writer.lengthField(0x12, client);
  return writer.bytes;
}

/**
 * Throws MalformedMessageError, IllegalStateException on wrong ids, IllegalArgumentException when
 * the client's request has no type, NumberOutOfRangeException.
 */
export function decodeReadIndexRequest(bytes: Uint8Array): ReadIndexRequest {
  const reader = new Reader(bytes);
  let head: Uint8Array | undefined;
  let client: Uint8Array | undefined;
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) head = joinSerialized(head, reader.view());
    else if (tag === 0x12) client = joinSerialized(client, reader.view());
    else reader.skip(tag);
  }
  return {
    ...serverRpcOf(parseMessage(RaftRpcRequestProtoSchema, head ?? EMPTY)),
    clientRequest: clientRequestFromWire(decodeClientRequest(client ?? EMPTY)),
  };
}

/** ReadIndexReplyProto. */
export function encodeReadIndexReply(reply: ReadIndexReply): Uint8Array {
  return serialize(ReadIndexReplyProtoSchema, {
    serverReply: replyHead(reply, reply.success),
    readIndex: toUint64(reply.readIndex),
  });
}

/** Throws MalformedMessageError, IllegalStateException on wrong ids, NumberOutOfRangeException. */
export function decodeReadIndexReply(bytes: Uint8Array): ReadIndexReply {
  const proto = parseMessage(ReadIndexReplyProtoSchema, bytes);
  return {
    ...serverRpcOf(proto.serverReply),
    success: proto.serverReply?.success ?? false,
    readIndex: toInteger(proto.readIndex),
  };
}
