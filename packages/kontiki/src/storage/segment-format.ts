import { crc32c } from './crc32c.js';

/** "RaftLog1" (spec: storage 4.2). */
export const SEGMENT_HEADER = Uint8Array.of(0x52, 0x61, 0x66, 0x74, 0x4c, 0x6f, 0x67, 0x31);
export const HEADER_BYTES = 8;
export const CHECKSUM_BYTES = 4;
/** Longest length prefix that a reader consumes (spec: storage 5.2). */
export const VARINT_BYTES_MAX = 10;

export function varintSize(value: number): number {
  if (value < 0x80) return 1;
  if (value < 0x4000) return 2;
  if (value < 0x20_0000) return 3;
  return value < 0x1000_0000 ? 4 : 5;
}

/** Bytes of the record of an entry whose stored form has `protoBytes`. */
export function recordSize(protoBytes: number): number {
  return varintSize(protoBytes) + protoBytes + CHECKSUM_BYTES;
}

/** Writes `value` at `at`; returns the position behind it. */
export function writeVarint(target: Uint8Array, at: number, value: number): number {
  let position = at;
  let rest = value;
  while (rest >= 0x80) {
    target[position++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[position++] = rest;
  return position;
}

function writeChecksum(target: Uint8Array, at: number, crc: number): void {
  target[at] = crc >>> 24;
  target[at + 1] = (crc >>> 16) & 0xff;
  target[at + 2] = (crc >>> 8) & 0xff;
  target[at + 3] = crc & 0xff;
}

export function readChecksum(bytes: Uint8Array, at: number): number {
  const [a = 0, b = 0, c = 0, d = 0] = bytes.subarray(at, at + CHECKSUM_BYTES);
  return ((a << 24) | (b << 16) | (c << 8) | d) >>> 0;
}

/** Writes a whole record at `at`; returns the position behind it. */
export function writeRecord(target: Uint8Array, at: number, proto: Uint8Array): number {
  const body = writeVarint(target, at, proto.length);
  target.set(proto, body);
  const end = body + proto.length;
  writeChecksum(target, end, crc32c(target, at, end));
  return end + CHECKSUM_BYTES;
}

/** What stands before and behind the proto bytes of a record, for protos that are not copied. */
export function recordFrame(proto: Uint8Array): { head: Uint8Array; tail: Uint8Array } {
  const head = new Uint8Array(varintSize(proto.length));
  writeVarint(head, 0, proto.length);
  const tail = new Uint8Array(CHECKSUM_BYTES);
  writeChecksum(tail, 0, crc32c(proto, 0, proto.length, crc32c(head)));
  return { head, tail };
}

/** A length prefix: its value as signed 32 bits and its size, or why it has none. */
export type LengthPrefix =
  | { readonly kind: 'ok'; readonly value: number; readonly sizeBytes: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'malformed' };

/** Reads the prefix at `at`; 'cut' when `bytes` ends inside it (spec: storage 5.2, step 3). */
export function readLengthPrefix(bytes: Uint8Array, at: number): LengthPrefix {
  let value = 0;
  for (let count = 0; count < VARINT_BYTES_MAX; count++) {
    const byte = bytes[at + count];
    if (byte === undefined) return { kind: 'cut' };
    // Only the low 32 bits count.
    if (count < 5) value |= (byte & 0x7f) << (7 * count);
    if (byte < 0x80) return { kind: 'ok', value, sizeBytes: count + 1 };
  }
  return { kind: 'malformed' };
}

/** A segment file's name (spec: storage 4.1). */
export interface SegmentName {
  readonly name: string;
  readonly startIndex: number;
  /** Undefined for the open segment. */
  readonly endIndex: number | undefined;
}

export function closedName(startIndex: number, endIndex: number): string {
  return `log_${startIndex}-${endIndex}`;
}

export function openName(startIndex: number): string {
  return `log_inprogress_${startIndex}`;
}

/** Reads a file name; undefined when it is no segment's. */
export function parseSegmentName(name: string): SegmentName | undefined {
  const closed = /^log_(\d+)-(\d+)$/.exec(name);
  if (closed !== null) {
    return { name, startIndex: Number(closed[1]), endIndex: Number(closed[2]) };
  }
  const open = /^log_inprogress_(\d+)(?:\..*)?$/.exec(name);
  return open === null ? undefined : { name, startIndex: Number(open[1]), endIndex: undefined };
}
