import type { CallId } from '../../protocol/ids.js';
import { MalformedMessageError } from './errors.js';
import { joinSerialized } from './merge.js';
import { Reader, WireType } from './reader.js';
import { textAt } from './text.js';
import { lengthFieldSize, varintSize, Writer } from './writer.js';

/**
 * Rewrites a log entry to the bytes that Java would write for it (spec: storage, "canonical
 * encoding"). This is the slow path, for entries whose form is unusual: fields in another order,
 * written twice, with padded numbers or default values, or unknown ones, which are kept behind the
 * known ones.
 */
type FieldKind =
  | { readonly kind: 'uint64' | 'uint32' | 'int32' | 'bytes' | 'text' }
  /** Written also when it has its default. */
  | { readonly kind: 'optionalInt32' }
  | { readonly kind: 'message'; readonly of: Schema; readonly oneof?: boolean }
  | { readonly kind: 'messages'; readonly of: Schema };

interface Schema {
  readonly fields: Readonly<Record<number, FieldKind>>;
  readonly dropUnknown?: boolean;
}

const PEER: Schema = {
  fields: {
    1: { kind: 'bytes' },
    2: { kind: 'text' },
    3: { kind: 'uint32' },
    4: { kind: 'text' },
    5: { kind: 'text' },
    6: { kind: 'text' },
    7: { kind: 'optionalInt32' },
  },
};
const CONFIGURATION: Schema = {
  fields: {
    1: { kind: 'messages', of: PEER },
    2: { kind: 'messages', of: PEER },
    3: { kind: 'messages', of: PEER },
    4: { kind: 'messages', of: PEER },
  },
};
const STATE_MACHINE_ENTRY: Schema = {
  // The log replaces this message as a whole (spec: storage 8), so what is unknown in it has no
  // place to stay.
  dropUnknown: true,
  fields: { 1: { kind: 'bytes' }, 2: { kind: 'uint32' } },
};
const STATE_MACHINE_BODY: Schema = {
  fields: {
    1: { kind: 'bytes' },
    2: { kind: 'message', of: STATE_MACHINE_ENTRY },
    13: { kind: 'int32' },
    14: { kind: 'bytes' },
    15: { kind: 'uint64' },
  },
};
const METADATA: Schema = { fields: { 1: { kind: 'uint64' } } };
const ENTRY: Schema = {
  fields: {
    1: { kind: 'uint64' },
    2: { kind: 'uint64' },
    3: { kind: 'message', of: STATE_MACHINE_BODY, oneof: true },
    4: { kind: 'message', of: CONFIGURATION, oneof: true },
    5: { kind: 'message', of: METADATA, oneof: true },
  },
};

/** One field in its final form: sorted by number, then by the order of wire types within it. */
interface Piece {
  readonly field: number;
  readonly rank: number;
  readonly bytes: Uint8Array;
}

/** Order in which Java writes the unknown values of one field, by wire type. */
const RANK = [0, 2, 3, 4, 9, 1];
const MAX_GROUP_DEPTH = 100;

function varintPiece(tag: number, value: CallId): Uint8Array {
  const writer = new Writer(varintSize(tag) + varintSize(value));
  writer.varint(tag);
  writer.varint(value);
  return writer.bytes;
}

function lengthPiece(tag: number, content: Uint8Array): Uint8Array {
  const writer = new Writer(varintSize(tag) - 1 + lengthFieldSize(content.length));
  writer.varint(tag);
  writer.varint(content.length);
  writer.raw(content);
  return writer.bytes;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  let size = 0;
  for (const part of parts) size += part.length;
  const writer = new Writer(size);
  for (const part of parts) writer.raw(part);
  return writer.bytes;
}

function sorted(pieces: Piece[]): Uint8Array[] {
  pieces.sort((a, b) => a.field - b.field || a.rank - b.rank);
  return pieces.map((piece) => piece.bytes);
}

function readUnknown(reader: Reader, tag: number, depth: number): Piece {
  const field = tag >>> 3;
  const rank = RANK[tag & 7] ?? 9;
  switch (tag & 7) {
    case WireType.VARINT:
      return { field, rank, bytes: varintPiece(tag, reader.varint()) };
    case WireType.LENGTH:
      return { field, rank, bytes: lengthPiece(tag, reader.view()) };
    case WireType.GROUP_START:
      return { field, rank, bytes: readGroup(reader, tag, depth + 1) };
    default: {
      const start = reader.pos;
      reader.skip(tag);
      const head = new Writer(varintSize(tag));
      head.varint(tag);
      return { field, rank, bytes: concat([head.bytes, reader.bytes.subarray(start, reader.pos)]) };
    }
  }
}

function readGroup(reader: Reader, tag: number, depth: number): Uint8Array {
  if (depth > MAX_GROUP_DEPTH) throw new MalformedMessageError('groups nested too deeply');
  const endTag = tag + 1;
  const pieces: Piece[] = [];
  for (let inner = reader.tag(); inner !== endTag; inner = reader.tag()) {
    pieces.push(readUnknown(reader, inner, depth));
  }
  const head = new Writer(varintSize(tag));
  head.varint(tag);
  const tail = new Writer(varintSize(endTag));
  tail.varint(endTag);
  return concat([head.bytes, ...sorted(pieces), tail.bytes]);
}

/** What was read of a message's known fields, by number. */
class Known {
  readonly numbers = new Map<number, CallId>();
  readonly bytes = new Map<number, Uint8Array>();
  readonly lists = new Map<number, Uint8Array[]>();
}

function readMessage(reader: Reader, field: number, oneof: boolean, schema: Schema, known: Known) {
  if (oneof && !known.bytes.has(field)) {
    for (const [number, kind] of Object.entries(schema.fields)) {
      if (kind.kind === 'message' && kind.oneof === true) known.bytes.delete(Number(number));
    }
  }
  known.bytes.set(field, joinSerialized(known.bytes.get(field), reader.view()));
}

function readLengthField(reader: Reader, field: number, kind: FieldKind, schema: Schema, k: Known) {
  switch (kind.kind) {
    case 'message':
      readMessage(reader, field, kind.oneof === true, schema, k);
      return;
    case 'messages': {
      const list = k.lists.get(field) ?? [];
      list.push(reader.view());
      k.lists.set(field, list);
      return;
    }
    case 'text': {
      const view = reader.view();
      textAt(view, 0, view.length);
      k.bytes.set(field, view);
      return;
    }
    default:
      k.bytes.set(field, reader.view());
  }
}

function readNumber(reader: Reader, kind: FieldKind): CallId {
  switch (kind.kind) {
    case 'uint32':
      return reader.uint32();
    case 'int32':
    case 'optionalInt32':
      return reader.int32();
    default:
      return reader.varint();
  }
}

function wireTypeOf(kind: FieldKind): number {
  switch (kind.kind) {
    case 'bytes':
    case 'text':
    case 'message':
    case 'messages':
      return WireType.LENGTH;
    default:
      return WireType.VARINT;
  }
}

function knownPieces(schema: Schema, known: Known): Uint8Array[] {
  const parts: Uint8Array[] = [];
  for (const [text, kind] of Object.entries(schema.fields)) {
    const field = Number(text);
    const number = known.numbers.get(field);
    const bytes = known.bytes.get(field);
    if (number !== undefined && (kind.kind === 'optionalInt32' || BigInt(number) !== 0n)) {
      parts.push(varintPiece(field << 3, number));
    } else if (bytes !== undefined && kind.kind === 'message') {
      parts.push(lengthPiece((field << 3) | 2, canonicalMessage(bytes, kind.of)));
    } else if (bytes !== undefined && bytes.length > 0) {
      parts.push(lengthPiece((field << 3) | 2, bytes));
    } else if (kind.kind === 'messages') {
      for (const item of known.lists.get(field) ?? []) {
        parts.push(lengthPiece((field << 3) | 2, canonicalMessage(item, kind.of)));
      }
    }
  }
  return parts;
}

function canonicalMessage(bytes: Uint8Array, schema: Schema): Uint8Array {
  const reader = new Reader(bytes);
  const known = new Known();
  const unknown: Piece[] = [];
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    const field = tag >>> 3;
    const kind = schema.fields[field];
    if (kind === undefined || wireTypeOf(kind) !== (tag & 7)) {
      unknown.push(readUnknown(reader, tag, 0));
    } else if (wireTypeOf(kind) === WireType.VARINT) {
      known.numbers.set(field, readNumber(reader, kind));
    } else {
      readLengthField(reader, field, kind, schema, known);
    }
  }
  const parts = knownPieces(schema, known);
  return concat(schema.dropUnknown === true ? parts : [...parts, ...sorted(unknown)]);
}

/** The canonical bytes of a serialized LogEntryProto. Throws MalformedMessageError. */
export function canonicalEntry(bytes: Uint8Array): Uint8Array {
  return canonicalMessage(bytes, ENTRY);
}
