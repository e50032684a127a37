import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { BinaryReader, BinaryWriter, WireType } from '@bufbuild/protobuf/wire';

/** Numbers in [0, 1) from a seed, for choices inside of one test case. */
export function chances(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

interface Piece {
  readonly no: number;
  readonly bytes: Uint8Array;
}

function written(write: (writer: BinaryWriter) => void): Uint8Array {
  const writer = new BinaryWriter();
  write(writer);
  return writer.finish();
}

function lengthDelimited(no: number, content: Uint8Array): Uint8Array {
  return written((w) => w.tag(no, WireType.LengthDelimited).bytes(content));
}

function join(pieces: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(Buffer.concat(pieces));
}

function unpacked(no: number, content: Uint8Array): Uint8Array[] {
  const reader = new BinaryReader(content);
  const parts: Uint8Array[] = [];
  while (reader.pos < reader.len) {
    const value = reader.uint64() as bigint;
    parts.push(written((w) => w.tag(no, WireType.Varint).uint64(value)));
  }
  return parts;
}

function cut(desc: DescMessage, content: Uint8Array): [Uint8Array, Uint8Array] {
  const pieces = split(desc, content);
  const half = pieces.length >> 1;
  const part = (list: readonly Piece[]) => join(list.map((piece) => piece.bytes));
  return [part(pieces.slice(0, half)), part(pieces.slice(half))];
}

/** The fields of a message, one piece each. */
function split(_desc: DescMessage, bytes: Uint8Array): Piece[] {
  const reader = new BinaryReader(bytes);
  const pieces: Piece[] = [];
  while (reader.pos < reader.len) {
    const start = reader.pos;
    const [no, wireType] = reader.tag();
    reader.skip(wireType, no);
    pieces.push({ no, bytes: bytes.slice(start, reader.pos) });
  }
  return pieces;
}

function contentOf(piece: Piece): Uint8Array {
  const reader = new BinaryReader(piece.bytes);
  reader.tag();
  return reader.bytes();
}

/** Other ways to write one field with the same meaning. */
function vary(field: DescField, piece: Piece, next: () => number, unknown: boolean): Uint8Array[] {
  if (field.fieldKind === 'message' && field.message !== undefined) {
    const content = contentOf(piece);
    if (next() < 0.5)
      return [lengthDelimited(piece.no, mangle(field.message, content, next, unknown))];
    const [first, second] = cut(field.message, content);
    return [lengthDelimited(piece.no, first), lengthDelimited(piece.no, second)];
  }
  if (field.fieldKind === 'list' && field.listKind === 'message') {
    return [lengthDelimited(piece.no, mangle(field.message, contentOf(piece), next, unknown))];
  }
  if (field.fieldKind === 'list' && field.listKind === 'scalar') {
    return next() < 0.5 ? unpacked(piece.no, contentOf(piece)) : [piece.bytes];
  }
  if (field.fieldKind === 'map' || next() < 0.6) return [piece.bytes];
  const wireType = (piece.bytes[0] ?? 0) & 7;
  const earlier =
    wireType === WireType.Varint
      ? written((w) => w.tag(piece.no, WireType.Varint).uint32(1))
      : lengthDelimited(piece.no, Uint8Array.of(0x7a, 0x7a));
  return [earlier, piece.bytes];
}

function unknownPiece(next: () => number): Piece {
  const no = 100 + Math.floor(next() * 4);
  const write = [
    (w: BinaryWriter) => w.tag(no, WireType.Varint).uint64(BigInt(Math.floor(next() * 1e9))),
    (w: BinaryWriter) => w.tag(no, WireType.Bit64).fixed64(7n),
    (w: BinaryWriter) => w.tag(no, WireType.LengthDelimited).bytes(Uint8Array.of(1, 2, 3)),
    (w: BinaryWriter) => w.tag(no, WireType.Bit32).fixed32(9),
    (w: BinaryWriter) =>
      w.tag(no, WireType.StartGroup).tag(1, WireType.Varint).uint32(5).tag(no, WireType.EndGroup),
  ];
  const chosen = write[Math.floor(next() * write.length)] as (w: BinaryWriter) => BinaryWriter;
  return { no, bytes: written(chosen) };
}

/** Any order of the pieces in which those of one field stay in theirs. */
function shuffled(pieces: readonly Piece[], next: () => number): Piece[] {
  const places = new Map<number, number[]>();
  for (const { no } of pieces) places.set(no, [...(places.get(no) ?? []), next()]);
  for (const list of places.values()) list.sort((a, b) => b - a);
  const keyed = pieces.map((piece) => ({ piece, key: places.get(piece.no)?.pop() ?? 0 }));
  return keyed.sort((a, b) => a.key - b.key).map(({ piece }) => piece);
}

/**
 * Writes a message in another way that means the same: fields in another order, overwritten
 * scalars, messages in two parts, lists unpacked, and, if asked for, unknown fields of every wire
 * type.
 */
export function mangle(
  desc: DescMessage,
  bytes: Uint8Array,
  next: () => number,
  unknown: boolean,
): Uint8Array {
  const pieces: Piece[] = [];
  for (const piece of split(desc, bytes)) {
    const field = desc.fields.find((candidate) => candidate.number === piece.no);
    const parts = field === undefined ? [piece.bytes] : vary(field, piece, next, unknown);
    pieces.push(...parts.map((part) => ({ no: piece.no, bytes: part })));
  }
  if (unknown && next() < 0.7) pieces.push(unknownPiece(next));
  return join(shuffled(pieces, next).map((piece) => piece.bytes));
}
