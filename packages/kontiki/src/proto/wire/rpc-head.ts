import type { CallId } from '../../protocol/ids.js';
import type { Reader } from './reader.js';
import { bytesFieldSize, lengthFieldSize, numberFieldSize, type Writer } from './writer.js';

/** Fields 1 to 4, which requests and replies have in common (spec: wire-grpc 1.4.2). */
export function commonHeadSize(
  requestorId: Uint8Array,
  replyId: Uint8Array,
  groupId: Uint8Array,
  callId: CallId,
): number {
  return (
    bytesFieldSize(requestorId.length) +
    bytesFieldSize(replyId.length) +
    (groupId.length === 0 ? 0 : lengthFieldSize(lengthFieldSize(groupId.length))) +
    numberFieldSize(callId)
  );
}

export function writeCommonHead(
  writer: Writer,
  requestorId: Uint8Array,
  replyId: Uint8Array,
  groupId: Uint8Array,
  callId: CallId,
): void {
  writer.bytesField(0x0a, requestorId);
  writer.bytesField(0x12, replyId);
  if (groupId.length > 0) {
    writer.head(0x1a, lengthFieldSize(groupId.length));
    writer.lengthField(0x0a, groupId);
  }
  writer.numberField(0x20, callId);
}

/** Reads a RaftGroupIdProto over what an earlier occurrence of the field gave. */
export function readGroupId(reader: Reader, previous: Uint8Array): Uint8Array {
  let id = previous;
  const outer = reader.enter();
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) id = reader.view();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return id;
}
