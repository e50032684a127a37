import { Reader } from './reader.js';
import { commonHeadSize, readGroupId, writeCommonHead } from './rpc-head.js';
import { utf8Of } from './text.js';
import type { AppendEntriesReplyMessage } from './types.js';
import { lengthFieldSize, numberFieldSize, Writer } from './writer.js';

const EMPTY = new Uint8Array(0);

/**
 * AppendEntriesReplyProto, in canonical form (spec: wire-grpc 2.2). Small results share a slab: do
 * not transfer them.
 */
export function encodeAppendEntriesReply(m: AppendEntriesReplyMessage): Uint8Array {
  const requestorId = utf8Of(m.requestorId);
  const replyId = utf8Of(m.replyId);
  const head = commonHeadSize(requestorId, replyId, m.raftGroupId, m.callId) + (m.success ? 2 : 0);
  const writer = new Writer(
    lengthFieldSize(head) +
      numberFieldSize(m.term) +
      numberFieldSize(m.nextIndex) +
      numberFieldSize(m.result) +
      numberFieldSize(m.followerCommit) +
      numberFieldSize(m.matchIndex) +
      (m.isHeartbeat ? 2 : 0),
  );
  writer.head(0x0a, head);
  writeCommonHead(writer, requestorId, replyId, m.raftGroupId, m.callId);
  writer.boolField(0x78, m.success);
  writer.numberField(0x10, m.term);
  writer.numberField(0x18, m.nextIndex);
  writer.numberField(0x20, m.result);
  writer.numberField(0x28, m.followerCommit);
  writer.numberField(0x30, m.matchIndex);
  writer.boolField(0x38, m.isHeartbeat);
  return writer.bytes;
}

function readHead(reader: Reader, m: AppendEntriesReplyMessage): void {
  const outer = reader.enter();
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    switch (tag) {
      case 0x0a:
        m.requestorId = reader.text();
        break;
      case 0x12:
        m.replyId = reader.text();
        break;
      case 0x1a:
        m.raftGroupId = readGroupId(reader, m.raftGroupId);
        break;
      case 0x20:
        m.callId = reader.varint();
        break;
      case 0x78:
        m.success = reader.bool();
        break;
      default:
        reader.skip(tag);
    }
  }
  reader.leave(outer);
}

function readField(reader: Reader, m: AppendEntriesReplyMessage, tag: number): void {
  switch (tag) {
    case 0x0a:
      readHead(reader, m);
      break;
    case 0x10:
      m.term = reader.safeInteger();
      break;
    case 0x18:
      m.nextIndex = reader.safeInteger();
      break;
    case 0x20:
      m.result = reader.int32();
      break;
    case 0x28:
      m.followerCommit = reader.safeInteger();
      break;
    case 0x30:
      m.matchIndex = reader.safeInteger();
      break;
    case 0x38:
      m.isHeartbeat = reader.bool();
      break;
    default:
      reader.skip(tag);
  }
}

/** AppendEntriesReplyProto. Throws MalformedMessageError, NumberOutOfRangeException. */
export function decodeAppendEntriesReply(bytes: Uint8Array): AppendEntriesReplyMessage {
  const reader = new Reader(bytes);
  const m: AppendEntriesReplyMessage = {
    requestorId: '',
    replyId: '',
    raftGroupId: EMPTY,
    callId: 0,
    success: false,
    term: 0,
    nextIndex: 0,
    result: 0,
    followerCommit: 0,
    matchIndex: 0,
    isHeartbeat: false,
  };
  while (reader.pos < reader.end) readField(reader, m, reader.tag());
  return m;
}
