import {
  COMMIT_INFO_TAG,
  commitInfosSize,
  NO_COMMIT_INFOS,
  readCommitInfo,
  writeCommitInfos,
} from './commit-infos.js';
import { MalformedMessageError } from './errors.js';
import { readWireEntry, sizeOfEntryInRequest, writeWireEntry } from './log-entry.js';
import { joinSerialized } from './merge.js';
import { Reader } from './reader.js';
import { commonHeadSize, readGroupId, writeCommonHead } from './rpc-head.js';
import { utf8Of } from './text.js';
import type { AppendEntriesRequestHeader, AppendEntriesRequestMessage, LogEntry } from './types.js';
import { lengthFieldSize, numberFieldSize, Writer } from './writer.js';

const EMPTY = new Uint8Array(0);
/** State machine data of at least so many bytes is sent from where it lies. */
export const SEPARATE_PART_BYTES = 8192;
/** A request holds some megabytes; more entries than this are an attack on memory. */
const MAX_ENTRIES = 1 << 20;
const ENTRY_TAG = 0x22;

const isApart = (data: Uint8Array): boolean => data.length >= SEPARATE_PART_BYTES;

function headSize(header: AppendEntriesRequestHeader): number {
  const { spanContext } = header;
  return (
    commonHeadSize(
      utf8Of(header.requestorId),
      utf8Of(header.replyId),
      header.raftGroupId,
      header.callId,
    ) + (spanContext === undefined ? 0 : lengthFieldSize(spanContext.length))
  );
}

function previousSize(header: AppendEntriesRequestHeader): number {
  return numberFieldSize(header.previousTerm ?? 0) + numberFieldSize(header.previousIndex ?? 0);
}

function hasPrevious(header: AppendEntriesRequestHeader): boolean {
  return header.previousIndex !== undefined || header.previousTerm !== undefined;
}

function writeHead(writer: Writer, header: AppendEntriesRequestHeader): void {
  writer.head(0x0a, headSize(header));
  writeCommonHead(
    writer,
    utf8Of(header.requestorId),
    utf8Of(header.replyId),
    header.raftGroupId,
    header.callId,
  );
  if (header.spanContext !== undefined) writer.lengthField(0x5a, header.spanContext);
  writer.numberField(0x10, header.leaderTerm);
  if (hasPrevious(header)) {
    writer.head(0x1a, previousSize(header));
    writer.numberField(0x08, header.previousTerm ?? 0);
    writer.numberField(0x10, header.previousIndex ?? 0);
  }
}

/** Size of the message without the entries' data that stays apart. */
function joinedSize(header: AppendEntriesRequestHeader, entries: readonly LogEntry[]): number {
  let size =
    lengthFieldSize(headSize(header)) +
    numberFieldSize(header.leaderTerm) +
    (hasPrevious(header) ? lengthFieldSize(previousSize(header)) : 0) +
    numberFieldSize(header.leaderCommit) +
    (header.initializing ? 2 : 0) +
    commitInfosSize(header.commitInfos);
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as LogEntry;
    size += sizeOfEntryInRequest(entry);
    if (entry.data !== undefined && isApart(entry.data)) size -= entry.data.length;
  }
  return size;
}

/**
 * AppendEntriesRequestProto as parts in order (spec: wire-grpc 7.3.2). All is joined into one
 * buffer, except state machine data of at least `SEPARATE_PART_BYTES`, which is a part by itself
 * and not copied. Entries with data must have it at hand (else AssertionFailedError).
 */
export function encodeAppendEntriesRequest(
  header: AppendEntriesRequestHeader,
  entries: readonly LogEntry[],
): Uint8Array[] {
  const writer = new Writer(joinedSize(header, entries));
  const parts: Uint8Array[] = [];
  let cut = 0;
  writeHead(writer, header);
  for (let i = 0; i < entries.length; i++) {
    const entry = entries[i] as LogEntry;
    writer.head(ENTRY_TAG, entry.fullSizeBytes);
    const place = writeWireEntry(writer, entry, isApart);
    if (place !== undefined && entry.data !== undefined) {
      parts.push(writer.bytes.subarray(cut, place), entry.data);
      cut = place;
    }
  }
  writer.numberField(0x28, header.leaderCommit);
  writer.boolField(0x30, header.initializing);
  writeCommitInfos(writer, header.commitInfos);
  if (cut === 0) return [writer.bytes];
  if (cut < writer.pos) parts.push(writer.bytes.subarray(cut));
  return parts;
}

type Mutable = {
  -readonly [K in keyof AppendEntriesRequestMessage]: AppendEntriesRequestMessage[K];
};

function readHead(reader: Reader, m: Mutable): void {
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
      case 0x5a:
        m.spanContext = joinSerialized(m.spanContext, reader.view());
        break;
      default:
        reader.skip(tag);
    }
  }
  reader.leave(outer);
}

function readPrevious(reader: Reader, m: Mutable): void {
  m.previousTerm ??= 0;
  m.previousIndex ??= 0;
  const outer = reader.enter();
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === 0x08) m.previousTerm = reader.safeInteger();
    else if (tag === 0x10) m.previousIndex = reader.safeInteger();
    else reader.skip(tag);
  }
  reader.leave(outer);
}

function readEntry(reader: Reader, m: Mutable): void {
  if (m.entries.length >= MAX_ENTRIES) throw new MalformedMessageError('too many entries');
  const outer = reader.enter();
  m.entries.push(readWireEntry(reader));
  reader.leave(outer);
}

function readField(reader: Reader, m: Mutable, tag: number): void {
  switch (tag) {
    case 0x0a:
      readHead(reader, m);
      break;
    case 0x10:
      m.leaderTerm = reader.safeInteger();
      break;
    case 0x1a:
      readPrevious(reader, m);
      break;
    case ENTRY_TAG:
      readEntry(reader, m);
      break;
    case 0x28:
      m.leaderCommit = reader.safeInteger();
      break;
    case 0x30:
      m.initializing = reader.bool();
      break;
    case COMMIT_INFO_TAG:
      m.commitInfos = readCommitInfo(reader, m.commitInfos);
      break;
    default:
      reader.skip(tag);
  }
}

/**
 * AppendEntriesRequestProto. Entries and other byte fields are views on `bytes`; an entry whose
 * form is not canonical is written anew, with what is unknown in it (spec: wire-grpc 2.2). Throws
 * MalformedMessageError, NumberOutOfRangeException.
 */
export function decodeAppendEntriesRequest(bytes: Uint8Array): AppendEntriesRequestMessage {
  const reader = new Reader(bytes);
  const m: Mutable = {
    requestorId: '',
    replyId: '',
    raftGroupId: EMPTY,
    callId: 0,
    leaderTerm: 0,
    previousTerm: undefined,
    previousIndex: undefined,
    leaderCommit: 0,
    initializing: false,
    commitInfos: NO_COMMIT_INFOS,
    spanContext: undefined,
    entries: [],
  };
  while (reader.pos < reader.end) readField(reader, m, reader.tag());
  return m;
}
