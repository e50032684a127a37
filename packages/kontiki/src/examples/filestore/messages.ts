import { InvalidArgumentError } from '../../common/errors.js';
import { MalformedMessageError } from '../../proto/wire/errors.js';
import { Reader, WireType } from '../../proto/wire/reader.js';
import { decodeUtf8 } from '../../proto/wire/text.js';
import {
  bytesFieldSize,
  lengthFieldSize,
  numberFieldSize,
  Writer,
} from '../../proto/wire/writer.js';
import { crc32c } from '../../storage/crc32c.js';

/** WriteRequestHeaderProto (spec: examples 5.1). */
export interface WriteHeader {
  readonly path: string;
  readonly close: boolean;
  /** Bytes from the start of the file. */
  readonly offset: number;
  /** Bytes of data. */
  readonly length: number;
  readonly sync: boolean;
  /** CRC-32C of the data; in the log only, and only from leaders that write it. */
  readonly checksum: number | undefined;
}

/** FileStoreRequestProto (spec: examples 5.1). */
export type FileStoreRequest =
  | { readonly kind: 'writeHeader'; readonly header: WriteHeader }
  /** `data` is a view on the decoded bytes. */
  | { readonly kind: 'write'; readonly header: WriteHeader; readonly data: Uint8Array }
  | { readonly kind: 'delete'; readonly path: string }
  | { readonly kind: 'stream'; readonly path: string; readonly length: number }
  | { readonly kind: 'none' };

const NO_BYTES = new Uint8Array(0);
const CHECKSUM_TAG = (15 << 3) | WireType.FIXED32;
const CHECKSUM_BYTES = 5;
const encoder = new TextEncoder();

function tagOf(field: number, type: number): number {
  return (field << 3) | type;
}

/**
 * Decodes a request without copying its data. Throws MalformedMessageError, and
 * NumberOutOfRangeException on an offset or length beyond 2^53.
 */
export function decodeRequest(bytes: Uint8Array): FileStoreRequest {
  const reader = new Reader(bytes);
  let request: FileStoreRequest = { kind: 'none' };
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if ((tag & 7) !== WireType.LENGTH || tag >> 3 > 4) {
      reader.skip(tag);
      continue;
    }
    const outer = reader.enter();
    switch (tag >> 3) {
      case 1:
        request = { kind: 'writeHeader', header: decodeHeader(reader) };
        break;
      case 2:
        request = decodeWrite(reader);
        break;
      case 3:
        request = { kind: 'delete', path: decodePathAndLength(reader).path };
        break;
      default:
        request = { kind: 'stream', ...decodePathAndLength(reader) };
    }
    reader.leave(outer);
  }
  return request;
}

function decodeWrite(reader: Reader): FileStoreRequest {
  let header: WriteHeader | undefined;
  let data: Uint8Array = NO_BYTES;
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === tagOf(1, WireType.LENGTH)) {
      const outer = reader.enter();
      header = decodeHeader(reader);
      reader.leave(outer);
    } else if (tag === tagOf(2, WireType.LENGTH)) {
      data = reader.view();
    } else {
      reader.skip(tag);
    }
  }
  if (header === undefined) throw new MalformedMessageError('a write request without a header');
  return { kind: 'write', header, data };
}

function decodeHeader(reader: Reader): WriteHeader {
  let path: Uint8Array = NO_BYTES;
  let close = false;
  let offset = 0;
  let length = 0;
  let sync = false;
  let checksum: number | undefined;
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === tagOf(1, WireType.LENGTH)) path = reader.view();
    else if (tag === tagOf(2, WireType.VARINT)) close = reader.bool();
    else if (tag === tagOf(3, WireType.VARINT)) offset = reader.safeInteger();
    else if (tag === tagOf(4, WireType.VARINT)) length = reader.safeInteger();
    else if (tag === tagOf(5, WireType.VARINT)) sync = reader.bool();
    else if (tag === CHECKSUM_TAG) checksum = readFixed32(reader);
    else reader.skip(tag);
  }
  if (offset < 0 || length < 0) throw new MalformedMessageError('offset or length out of range');
  return { path: decodeUtf8(path), close, offset, length, sync, checksum };
}

function readFixed32(reader: Reader): number {
  const at = reader.pos;
  reader.skip(CHECKSUM_TAG);
  const { buffer, byteOffset } = reader.bytes;
  return new DataView(buffer, byteOffset).getUint32(at, true);
}

function decodePathAndLength(reader: Reader): { path: string; length: number } {
  let path: Uint8Array = NO_BYTES;
  let length = 0;
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    if (tag === tagOf(1, WireType.LENGTH)) path = reader.view();
    else if (tag === tagOf(2, WireType.VARINT)) length = reader.safeInteger();
    else reader.skip(tag);
  }
  return { path: decodeUtf8(path), length };
}

function headerSize(path: Uint8Array, header: WriteHeader): number {
  return (
    bytesFieldSize(path.length) +
    numberFieldSize(header.close ? 1 : 0) +
    numberFieldSize(header.offset) +
    numberFieldSize(header.length) +
    numberFieldSize(header.sync ? 1 : 0) +
    (header.checksum === undefined ? 0 : CHECKSUM_BYTES)
  );
}

function writeHeader(writer: Writer, path: Uint8Array, header: WriteHeader): void {
  writer.bytesField(tagOf(1, WireType.LENGTH), path);
  writer.boolField(tagOf(2, WireType.VARINT), header.close);
  writer.numberField(tagOf(3, WireType.VARINT), header.offset);
  writer.numberField(tagOf(4, WireType.VARINT), header.length);
  writer.boolField(tagOf(5, WireType.VARINT), header.sync);
  if (header.checksum === undefined) return;
  writer.byte(CHECKSUM_TAG);
  for (let shift = 0; shift < 32; shift += 8) writer.byte((header.checksum >>> shift) & 0xff);
}

/** What the log holds of a write: FileStoreRequest{writeHeader} (spec: examples 5.3). */
export function encodeLogHeader(header: WriteHeader): Uint8Array {
  const path = encoder.encode(header.path);
  const size = headerSize(path, header);
  const writer = new Writer(lengthFieldSize(size));
  writer.head(tagOf(1, WireType.LENGTH), size);
  writeHeader(writer, path, header);
  return writer.bytes;
}

/** The header of a write together with the checksum of its data. */
export function withChecksum(header: WriteHeader, data: Uint8Array): WriteHeader {
  return { ...header, checksum: crc32c(data) };
}

/** A write request whose data is still to be filled in. */
export interface WriteMessage {
  /** The whole message. */
  readonly message: Uint8Array;
  /** The place of the data in it. */
  readonly data: Uint8Array;
}

/**
 * Lays out FileStoreRequest{write} for `length` bytes of data, which the caller puts in its place:
 * so a file can be read right into the message. Throws InvalidArgumentError on a negative offset or
 * length.
 */
export function layOutWrite(
  path: string,
  fields: { offset: number; length: number; close?: boolean; sync?: boolean },
): WriteMessage {
  const { offset, length, close = false, sync = false } = fields;
  if (!Number.isSafeInteger(offset) || offset < 0 || !Number.isSafeInteger(length) || length < 0) {
    throw new InvalidArgumentError(`bad offset ${offset} or length ${length} of a write`);
  }
  const pathBytes = encoder.encode(path);
  const header: WriteHeader = { path, close, offset, length, sync, checksum: undefined };
  const size = headerSize(pathBytes, header);
  const inner = lengthFieldSize(size) + bytesFieldSize(length);
  const writer = new Writer(lengthFieldSize(inner));
  writer.head(tagOf(2, WireType.LENGTH), inner);
  writer.head(tagOf(1, WireType.LENGTH), size);
  writeHeader(writer, pathBytes, header);
  if (length > 0) writer.head(tagOf(2, WireType.LENGTH), length);
  return { message: writer.bytes, data: writer.bytes.subarray(writer.pos) };
}

/** FileStoreRequest{write} with its data. */
export function encodeWrite(
  path: string,
  offset: number,
  data: Uint8Array,
  flags: { close?: boolean; sync?: boolean } = {},
): Uint8Array {
  const laidOut = layOutWrite(path, { offset, length: data.length, ...flags });
  laidOut.data.set(data);
  return laidOut.message;
}
