import {
  COMMIT_INFO_TAG,
  commitInfosSize,
  NO_COMMIT_INFOS,
  readCommitInfo,
  writeCommitInfos,
} from './commit-infos.js';
import { joinSerialized } from './merge.js';
import { Reader } from './reader.js';
import { commonHeadSize, readGroupId, writeCommonHead } from './rpc-head.js';
import { utf8Of } from './text.js';
import type { ClientReplyMessage } from './types.js';
import { bytesFieldSize, lengthFieldSize, numberFieldSize, Writer } from './writer.js';

const EMPTY = new Uint8Array(0);
/** Tags of the oneof ExceptionDetails: fields 3 to 12. */
const FIRST_EXCEPTION_TAG = 0x1a;
const LAST_EXCEPTION_TAG = 0x62;

/**
 * RaftClientReplyProto, in canonical form (spec: wire-grpc 2.2). Small results share a slab: do not
 * transfer them.
 */
export function encodeClientReply(m: ClientReplyMessage): Uint8Array {
  const replyId = utf8Of(m.replyId);
  const head =
    commonHeadSize(m.requestorId, replyId, m.raftGroupId, m.callId) + (m.success ? 2 : 0);
  const content = m.content === undefined ? 0 : bytesFieldSize(m.content.length);
  const exception = m.exception ?? EMPTY;
  const writer = new Writer(
    lengthFieldSize(head) +
      (m.content === undefined ? 0 : lengthFieldSize(content)) +
      (m.exceptionCase === 0 ? 0 : lengthFieldSize(exception.length)) +
      numberFieldSize(m.logIndex) +
      commitInfosSize(m.commitInfos),
  );
  writer.head(0x0a, head);
  writeCommonHead(writer, m.requestorId, replyId, m.raftGroupId, m.callId);
  writer.boolField(0x78, m.success);
  if (m.content !== undefined) {
    writer.head(0x12, content);
    writer.bytesField(0x0a, m.content);
  }
  if (m.exceptionCase !== 0) writer.lengthField((m.exceptionCase << 3) | 2, exception);
  writer.numberField(0x70, m.logIndex);
  writeCommitInfos(writer, m.commitInfos);
  return writer.bytes;
}

function readHead(reader: Reader, m: ClientReplyMessage): void {
  const outer = reader.enter();
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    switch (tag) {
      case 0x0a:
        m.requestorId = reader.view();
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

function readContent(reader: Reader, m: ClientReplyMessage): void {
  m.content ??= EMPTY;
  const outer = reader.enter();
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) m.content = reader.view();
    else reader.skip(tag);
  }
  reader.leave(outer);
}

function readException(reader: Reader, m: ClientReplyMessage, field: number): void {
  const previous = m.exceptionCase === field ? m.exception : undefined;
  m.exceptionCase = field;
  m.exception = joinSerialized(previous, reader.view());
}

/**
 * RaftClientReplyProto. Byte fields are views on `bytes`. Throws MalformedMessageError,
 * NumberOutOfRangeException for a commit index.
 */
export function decodeClientReply(bytes: Uint8Array): ClientReplyMessage {
  const reader = new Reader(bytes);
  const m: ClientReplyMessage = {
    requestorId: EMPTY,
    replyId: '',
    raftGroupId: EMPTY,
    callId: 0,
    success: false,
    content: undefined,
    exceptionCase: 0,
    exception: undefined,
    logIndex: 0,
    commitInfos: NO_COMMIT_INFOS,
  };
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) readHead(reader, m);
    else if (tag === 0x12) readContent(reader, m);
    else if (tag === 0x70) m.logIndex = reader.varint();
    else if (tag === COMMIT_INFO_TAG) m.commitInfos = readCommitInfo(reader, m.commitInfos);
    else if (tag >= FIRST_EXCEPTION_TAG && tag <= LAST_EXCEPTION_TAG && (tag & 7) === 2) {
      readException(reader, m, tag >> 3);
    } else reader.skip(tag);
  }
  return m;
}
