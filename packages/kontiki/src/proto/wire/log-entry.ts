import { assert, InvalidArgumentError } from '../../common/errors.js';
import type { RaftConfiguration } from '../../protocol/configuration.js';
import type { CallId } from '../../protocol/ids.js';
import { canonicalEntry } from './canonical.js';
import { type EntryScan, scanCanonical, scanKnown } from './entry-scan.js';
import { MalformedMessageError } from './errors.js';
import { decodeConfiguration, encodeConfiguration } from './peer.js';
import { Reader } from './reader.js';
import { EntryKind, type LogEntry, type StateMachineBody } from './types.js';
import { bytesFieldSize, lengthFieldSize, numberFieldSize, varintSize, Writer } from './writer.js';

const EMPTY = new Uint8Array(0);
const SEPARATE_TAG = 0x12;

/** Content of a stateMachineEntry that holds only the size of the full entry. */
function sizeContent(fullSizeBytes: number): number {
  return numberFieldSize(fullSizeBytes);
}

/** Size of an entry's body when its stateMachineEntry has `content` bytes. */
function bodySizeWith(scan: EntryScan, content: number): number {
  const separate = scan.separateEnd - scan.separateStart;
  return scan.bodyEnd - scan.bodyStart - separate + lengthFieldSize(content);
}

/** Size of an entry of `length` bytes when its stateMachineEntry has `content` bytes instead. */
function sizeWith(scan: EntryScan, length: number, content: number): number {
  const old = scan.bodyEnd - scan.bodyStart;
  const body = bodySizeWith(scan, content);
  return length - old - varintSize(old) + body + varintSize(body);
}

/**
 * Writes an entry up to and with the head of its stateMachineEntry, whose `content` bytes the
 * caller writes next.
 */
function writeHeadWith(writer: Writer, bytes: Uint8Array, scan: EntryScan, content: number): void {
  const lengthBytes = varintSize(scan.bodyEnd - scan.bodyStart);
  writer.slice(bytes, 0, scan.bodyStart - lengthBytes);
  writer.varint(bodySizeWith(scan, content));
  writer.slice(bytes, scan.bodyStart, scan.separateStart);
  writer.head(SEPARATE_TAG, content);
}

/**
 * The stored form of a full entry: its state machine data replaced by its size (spec: storage 8).
 */
function strip(full: Uint8Array, scan: EntryScan, fullSizeBytes: number): Uint8Array {
  const content = sizeContent(fullSizeBytes);
  const writer = new Writer(sizeWith(scan, full.length, content));
  writeHeadWith(writer, full, scan, content);
  writer.numberField(0x10, fullSizeBytes);
  writer.slice(full, scan.separateEnd, full.length);
  return writer.bytes;
}

/**
 * Canonical bytes of the entry at `reader.pos` to `reader.end`, as a view where that is possible,
 * and their scan.
 */
function canonicalForm(reader: Reader): { bytes: Uint8Array; scan: EntryScan } {
  const { pos: start, end } = reader;
  const view = new Uint8Array(reader.bytes.buffer, reader.bytes.byteOffset + start, end - start);
  const scan = scanCanonical(reader);
  reader.pos = end;
  reader.end = end;
  if (scan !== undefined) return { bytes: view, scan };
  const canonical = canonicalEntry(view);
  const same = canonical.length === view.length && canonical.every((byte, i) => byte === view[i]);
  return { bytes: same ? view : canonical, scan: scanKnown(canonical) };
}

/**
 * The full entry between `reader.pos` and `reader.end`, as it travels. Throws
 * MalformedMessageError, also when the state machine data is announced but not there (spec:
 * wire-grpc 2.7).
 */
export function readWireEntry(reader: Reader): LogEntry {
  const { bytes, scan } = canonicalForm(reader);
  const { term, index, kind } = scan;
  if (!scan.hasSeparate) {
    return {
      term,
      index,
      kind,
      stored: bytes,
      data: undefined,
      hasData: false,
      fullSizeBytes: bytes.length,
    };
  }
  if (scan.dataEnd === scan.dataStart) {
    throw new MalformedMessageError(`entry ${term}:${index} lacks its state machine data`);
  }
  const data = bytes.subarray(scan.dataStart, scan.dataEnd);
  const fullSizeBytes = sizeWith(scan, bytes.length, lengthFieldSize(data.length));
  const stored = strip(bytes, scan, fullSizeBytes);
  return { term, index, kind, stored, data, hasData: true, fullSizeBytes };
}

/**
 * The full form of an entry; splits its state machine data off. Views on `bytes` where their form
 * is canonical.
 */
export function parseWireEntry(bytes: Uint8Array): LogEntry {
  return readWireEntry(new Reader(bytes));
}

/**
 * The form that the log file holds (spec: storage 8). Throws MalformedMessageError, also when the
 * state machine data is still inside. Its record in the file may be longer than `stored`, when it
 * was not canonical.
 */
export function parseStoredEntry(bytes: Uint8Array): LogEntry {
  const { bytes: stored, scan } = canonicalForm(new Reader(bytes));
  const { term, index, kind, hasSeparate: hasData } = scan;
  if (scan.dataEnd > scan.dataStart) {
    throw new MalformedMessageError(`entry ${term}:${index} holds state machine data in the log`);
  }
  const fullSizeBytes = hasData && scan.fullSizeBytes > 0 ? scan.fullSizeBytes : stored.length;
  return { term, index, kind, stored, data: undefined, hasData, fullSizeBytes };
}

/** Bytes that an entry adds to a request. */
export function sizeOfEntryInRequest(entry: LogEntry): number {
  return lengthFieldSize(entry.fullSizeBytes);
}

/**
 * Writes the full form of an entry. State machine data for which `apart` holds is left out; its
 * place is returned. Throws AssertionFailedError when data is missing.
 */
export function writeWireEntry(
  writer: Writer,
  entry: LogEntry,
  apart: (data: Uint8Array) => boolean,
): number | undefined {
  if (!entry.hasData) {
    writer.raw(entry.stored);
    return undefined;
  }
  const { stored, data } = entry;
  assert(data !== undefined, `entry ${entry.term}:${entry.index} is sent without its data`);
  const scan = scanKnown(stored);
  writeHeadWith(writer, stored, scan, lengthFieldSize(data.length));
  writer.head(0x0a, data.length);
  const place = apart(data) ? writer.pos : undefined;
  if (place === undefined) writer.raw(data);
  writer.slice(stored, scan.separateEnd, stored.length);
  return place;
}

/** What a transaction is made of. */
export interface StateMachineEntryFields {
  readonly term: number;
  readonly index: number;
  readonly logData: Uint8Array;
  /** State machine data; undefined or empty for none. */
  readonly data: Uint8Array | undefined;
  /** 0 WRITE, 1 DATASTREAM. */
  readonly type: 0 | 1;
  readonly clientId: Uint8Array;
  readonly callId: CallId;
}

/** Writes the stored form; `separate` is the content size of stateMachineEntry, 0 for none. */
function encodeStored(fields: StateMachineEntryFields, separate: number, full: number): Uint8Array {
  const body = bodySize(fields, separate);
  const writer = new Writer(headSize(fields.term, fields.index) + lengthFieldSize(body));
  writer.numberField(0x08, fields.term);
  writer.numberField(0x10, fields.index);
  writer.head(0x1a, body);
  writer.bytesField(0x0a, fields.logData);
  if (separate > 0) {
    writer.head(SEPARATE_TAG, separate);
    writer.numberField(0x10, full);
  }
  writer.numberField(0x68, fields.type);
  writer.bytesField(0x72, fields.clientId);
  writer.numberField(0x78, fields.callId);
  return writer.bytes;
}

function headSize(term: number, index: number): number {
  return numberFieldSize(term) + numberFieldSize(index);
}

function bodySize(fields: StateMachineEntryFields, separate: number): number {
  return (
    bytesFieldSize(fields.logData.length) +
    bytesFieldSize(separate) +
    numberFieldSize(fields.type) +
    bytesFieldSize(fields.clientId.length) +
    numberFieldSize(fields.callId)
  );
}

/** The entry of a transaction (spec: wire-grpc 2.7). `logData` is copied, `data` is kept. */
export function createStateMachineEntry(fields: StateMachineEntryFields): LogEntry {
  const { term, index } = fields;
  const kind = EntryKind.STATE_MACHINE;
  const data = fields.data === undefined || fields.data.length === 0 ? undefined : fields.data;
  const separate = data === undefined ? 0 : lengthFieldSize(data.length);
  const fullSizeBytes = headSize(term, index) + lengthFieldSize(bodySize(fields, separate));
  const hasData = data !== undefined;
  const stored = encodeStored(fields, hasData ? sizeContent(fullSizeBytes) : 0, fullSizeBytes);
  return { term, index, kind, stored, data, hasData, fullSizeBytes };
}

function createWithBody(
  term: number,
  index: number,
  kind: EntryKind,
  tag: number,
  body: Uint8Array,
): LogEntry {
  const writer = new Writer(headSize(term, index) + lengthFieldSize(body.length));
  writer.numberField(0x08, term);
  writer.numberField(0x10, index);
  writer.lengthField(tag, body);
  const stored = writer.bytes;
  const fullSizeBytes = stored.length;
  return { term, index, kind, stored, data: undefined, hasData: false, fullSizeBytes };
}

/**
 * A configuration entry at the configuration's index; without term in files and snapshots that
 * leave it out.
 */
export function createConfigurationEntry(
  term: number | undefined,
  configuration: RaftConfiguration,
): LogEntry {
  const body = encodeConfiguration(configuration);
  return createWithBody(term ?? 0, configuration.index, EntryKind.CONFIGURATION, 0x22, body);
}

/** A metadata entry: what the leader had committed. */
export function createMetadataEntry(term: number, index: number, commitIndex: number): LogEntry {
  const writer = new Writer(numberFieldSize(commitIndex));
  writer.numberField(0x08, commitIndex);
  return createWithBody(term, index, EntryKind.METADATA, 0x2a, writer.bytes);
}

/**
 * The entry with its state machine data at hand. Throws InvalidArgumentError when the data has not
 * the size that the entry tells.
 */
export function withData(entry: LogEntry, data: Uint8Array): LogEntry {
  const size = entry.hasData
    ? sizeWith(scanKnown(entry.stored), entry.stored.length, lengthFieldSize(data.length))
    : -1;
  if (size !== entry.fullSizeBytes || data.length === 0) {
    const name = `entry ${entry.term}:${entry.index}`;
    throw new InvalidArgumentError(`${data.length} bytes of data do not belong to ${name}`);
  }
  return { ...entry, data };
}

/** The entry without its state machine data. */
export function withoutData(entry: LogEntry): LogEntry {
  return entry.data === undefined ? entry : { ...entry, data: undefined };
}

/**
 * The transaction in a state machine entry; views on its bytes. Any other kind of entry is an
 * AssertionFailedError.
 */
export function stateMachineBodyOf(entry: LogEntry): StateMachineBody {
  assert(entry.kind === EntryKind.STATE_MACHINE, 'not a state machine entry');
  const scan = scanKnown(entry.stored);
  const view = (start: number, end: number) =>
    end > start ? entry.stored.subarray(start, end) : EMPTY;
  return {
    logData: view(scan.logDataStart, scan.logDataEnd),
    type: scan.type === 1 ? 1 : 0,
    clientId: view(scan.clientIdStart, scan.clientIdEnd),
    callId: scan.callId,
  };
}

/**
 * The configuration in a configuration entry. Throws MalformedMessageError when a peer in it is not
 * acceptable.
 */
export function configurationOf(entry: LogEntry): RaftConfiguration {
  assert(entry.kind === EntryKind.CONFIGURATION, 'not a configuration entry');
  const scan = scanKnown(entry.stored);
  return decodeConfiguration(entry.stored.subarray(scan.bodyStart, scan.bodyEnd), entry.index);
}

/** The commit index in a metadata entry. */
export function commitIndexOf(entry: LogEntry): number {
  assert(entry.kind === EntryKind.METADATA, 'not a metadata entry');
  return scanKnown(entry.stored).commitIndex;
}
