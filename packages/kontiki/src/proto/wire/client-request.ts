import type { CallId } from '../../protocol/ids.js';
import { joinSerialized } from './merge.js';
import { Reader } from './reader.js';
import { commonHeadSize, readGroupId, writeCommonHead } from './rpc-head.js';
import { utf8Of } from './text.js';
import { ClientRequestCase, type ClientRequestMessage } from './types.js';
import { bytesFieldSize, lengthFieldSize, numberFieldSize, varintSize, Writer } from './writer.js';

const EMPTY = new Uint8Array(0);
const NO_CALL_IDS: readonly CallId[] = [];

function windowSize(m: ClientRequestMessage): number {
  if (m.seqNum === undefined) return 0;
  return numberFieldSize(m.seqNum) + (m.isFirst ? 2 : 0);
}

function repliedSize(ids: readonly CallId[]): number {
  let size = 0;
  for (let i = 0; i < ids.length; i++) size += varintSize(ids[i] as CallId);
  return size;
}

function headSize(m: ClientRequestMessage, replied: number, window: number): number {
  return (
    commonHeadSize(m.requestorId, utf8Of(m.replyId), m.raftGroupId, m.callId) +
    (m.toLeader ? 2 : 0) +
    (m.spanContext === undefined ? 0 : lengthFieldSize(m.spanContext.length)) +
    bytesFieldSize(replied) +
    numberFieldSize(m.timeoutMs) +
    (m.routingTable === undefined ? 0 : lengthFieldSize(m.routingTable.length)) +
    (m.seqNum === undefined ? 0 : lengthFieldSize(window))
  );
}

function writeHead(writer: Writer, m: ClientRequestMessage, replied: number, window: number): void {
  writeCommonHead(writer, m.requestorId, utf8Of(m.replyId), m.raftGroupId, m.callId);
  writer.boolField(0x28, m.toLeader);
  if (m.spanContext !== undefined) writer.lengthField(0x5a, m.spanContext);
  if (replied > 0) {
    writer.head(0x62, replied);
    for (let i = 0; i < m.repliedCallIds.length; i++) {
      writer.varint(m.repliedCallIds[i] as CallId);
    }
  }
  writer.numberField(0x68, m.timeoutMs);
  if (m.routingTable !== undefined) writer.lengthField(0x72, m.routingTable);
  if (m.seqNum !== undefined) {
    writer.head(0x7a, window);
    writer.numberField(0x08, m.seqNum);
    writer.boolField(0x10, m.isFirst);
  }
}

function typeSize(m: ClientRequestMessage): number {
  switch (m.type) {
    case ClientRequestCase.WRITE:
      return numberFieldSize(m.replication);
    case ClientRequestCase.READ:
      return (
        (m.preferNonLinearizable ? 2 : 0) + (m.readAfterWriteConsistent ? 2 : 0) + (m.dummy ? 2 : 0)
      );
    case ClientRequestCase.STALE_READ:
      return numberFieldSize(m.index);
    case ClientRequestCase.WATCH:
      return numberFieldSize(m.index) + numberFieldSize(m.replication);
    case ClientRequestCase.MESSAGE_STREAM:
      return numberFieldSize(m.streamId) + numberFieldSize(m.messageId) + (m.endOfRequest ? 2 : 0);
    default:
      return 0;
  }
}

function writeType(writer: Writer, m: ClientRequestMessage, size: number): void {
  if (m.type === ClientRequestCase.NOT_SET) return;
  writer.head((m.type << 3) | 2, size);
  switch (m.type) {
    case ClientRequestCase.WRITE:
      writer.numberField(0x08, m.replication);
      break;
    case ClientRequestCase.READ:
      writer.boolField(0x08, m.preferNonLinearizable);
      writer.boolField(0x10, m.readAfterWriteConsistent);
      writer.boolField(0x18, m.dummy);
      break;
    case ClientRequestCase.STALE_READ:
      writer.numberField(0x08, m.index);
      break;
    case ClientRequestCase.WATCH:
      writer.numberField(0x08, m.index);
      writer.numberField(0x10, m.replication);
      break;
    case ClientRequestCase.MESSAGE_STREAM:
      writer.numberField(0x08, m.streamId);
      writer.numberField(0x10, m.messageId);
      writer.boolField(0x18, m.endOfRequest);
      break;
    default:
      break;
  }
}

/**
 * RaftClientRequestProto, in canonical form (spec: wire-grpc 2.2). Small results share a slab: do
 * not transfer them.
 */
export function encodeClientRequest(m: ClientRequestMessage): Uint8Array {
  const replied = repliedSize(m.repliedCallIds);
  const window = windowSize(m);
  const head = headSize(m, replied, window);
  const content = m.content === undefined ? 0 : bytesFieldSize(m.content.length);
  const type = typeSize(m);
  const writer = new Writer(
    lengthFieldSize(head) +
      (m.content === undefined ? 0 : lengthFieldSize(content)) +
      (m.type === ClientRequestCase.NOT_SET ? 0 : lengthFieldSize(type)),
  );
  writer.head(0x0a, head);
  writeHead(writer, m, replied, window);
  if (m.content !== undefined) {
    writer.head(0x12, content);
    writer.bytesField(0x0a, m.content);
  }
  writeType(writer, m, type);
  return writer.bytes;
}

function readWindow(reader: Reader, m: ClientRequestMessage): void {
  m.seqNum ??= 0;
  const outer = reader.enter();
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === 0x08) m.seqNum = reader.varint();
    else if (tag === 0x10) m.isFirst = reader.bool();
    else reader.skip(tag);
  }
  reader.leave(outer);
}

function readPacked(reader: Reader, ids: CallId[]): void {
  const outer = reader.enter();
  while (reader.pos < reader.end) ids.push(reader.varint());
  reader.leave(outer);
}

/** RaftRpcRequestProto of a client, over what an earlier occurrence gave. */
function readHead(reader: Reader, m: ClientRequestMessage): void {
  const outer = reader.enter();
  let replied: CallId[] | undefined =
    m.repliedCallIds === NO_CALL_IDS ? undefined : (m.repliedCallIds as CallId[]);
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
      case 0x28:
        m.toLeader = reader.bool();
        break;
      case 0x5a:
        m.spanContext = joinSerialized(m.spanContext, reader.view());
        break;
      case 0x60:
        replied ??= [];
        replied.push(reader.varint());
        break;
      case 0x62:
        replied ??= [];
        readPacked(reader, replied);
        break;
      case 0x68:
        m.timeoutMs = reader.varint();
        break;
      case 0x72:
        m.routingTable = joinSerialized(m.routingTable, reader.view());
        break;
      case 0x7a:
        readWindow(reader, m);
        break;
      default:
        reader.skip(tag);
    }
  }
  if (replied !== undefined) m.repliedCallIds = replied;
  reader.leave(outer);
}

function readContent(reader: Reader, previous: Uint8Array | undefined): Uint8Array {
  let content = previous ?? EMPTY;
  const outer = reader.enter();
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) content = reader.view();
    else reader.skip(tag);
  }
  reader.leave(outer);
  return content;
}

/** Another member of the oneof replaces the one before; the same one is merged. */
function selectType(m: ClientRequestMessage, type: ClientRequestCase): void {
  if (m.type === type) return;
  m.type = type;
  m.replication = 0;
  m.preferNonLinearizable = false;
  m.readAfterWriteConsistent = false;
  m.dummy = false;
  m.index = 0;
  m.streamId = 0;
  m.messageId = 0;
  m.endOfRequest = false;
}

/** One field inside of the request's type; the key is type * 256 + tag. */
function readTypeField(reader: Reader, m: ClientRequestMessage, tag: number): void {
  switch (tag < 256 ? m.type * 256 + tag : 0) {
    case 0x308:
      m.replication = reader.int32();
      break;
    case 0x408:
      m.preferNonLinearizable = reader.bool();
      break;
    case 0x410:
      m.readAfterWriteConsistent = reader.bool();
      break;
    case 0x418:
      m.dummy = reader.bool();
      break;
    case 0x508:
    case 0x608:
      m.index = reader.varint();
      break;
    case 0x610:
      m.replication = reader.int32();
      break;
    case 0x708:
      m.streamId = reader.varint();
      break;
    case 0x710:
      m.messageId = reader.varint();
      break;
    case 0x718:
      m.endOfRequest = reader.bool();
      break;
    default:
      reader.skip(tag);
  }
}

function readType(reader: Reader, m: ClientRequestMessage, type: ClientRequestCase): void {
  selectType(m, type);
  const outer = reader.enter();
  while (reader.pos < reader.end) readTypeField(reader, m, reader.tag());
  reader.leave(outer);
}

function emptyRequest(): ClientRequestMessage {
  return {
    requestorId: EMPTY,
    replyId: '',
    raftGroupId: EMPTY,
    callId: 0,
    toLeader: false,
    spanContext: undefined,
    routingTable: undefined,
    repliedCallIds: NO_CALL_IDS,
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

/** RaftClientRequestProto. Byte fields are views on `bytes`. Throws MalformedMessageError. */
export function decodeClientRequest(bytes: Uint8Array): ClientRequestMessage {
  const reader = new Reader(bytes);
  const m = emptyRequest();
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === 0x0a) readHead(reader, m);
    else if (tag === 0x12) m.content = readContent(reader, m.content);
    else if (tag >= 0x1a && tag <= 0x4a && (tag & 7) === 2) {
      readType(reader, m, (tag >> 3) as ClientRequestCase);
    } else reader.skip(tag);
  }
  return m;
}
