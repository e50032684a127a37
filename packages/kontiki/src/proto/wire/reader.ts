import { NumberOutOfRangeException } from '../../protocol/exceptions.js';
import type { CallId } from '../../protocol/ids.js';
import { MalformedMessageError } from './errors.js';
import { textAt } from './text.js';

/** How a field is written (the low three bits of its tag). */
export const WireType = {
  VARINT: 0,
  FIXED64: 1,
  LENGTH: 2,
  GROUP_START: 3,
  GROUP_END: 4,
  FIXED32: 5,
} as const;

const TWO_32 = 4294967296;
const MAX_HIGH = 0x1f_ffff;
/**
 * Nesting of unknown groups that is followed; as deep as the protocol's other implementations go.
 */
const MAX_GROUP_DEPTH = 100;

/**
 * Joins the halves of a 64-bit number, read as signed (spec: wire-grpc 2.1): a number where that is
 * exact, else a bigint.
 */
function joinSigned(low: number, high: number): CallId {
  const signedHigh = high | 0;
  if (signedHigh >= -MAX_HIGH - 1 && signedHigh <= MAX_HIGH) {
    const value = signedHigh * TWO_32 + (low >>> 0);
    if (value >= Number.MIN_SAFE_INTEGER) return value;
  }
  return BigInt.asIntN(64, (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0));
}

/**
 * Walks over protobuf bytes without copying. All reads are checked against `end`, the end of the
 * innermost message.
 */
export class Reader {
  readonly bytes: Uint8Array;
  pos: number;
  end: number;

  constructor(bytes: Uint8Array, start = 0, end = bytes.length) {
    this.bytes = bytes;
    this.pos = start;
    this.end = end;
  }

  /**
   * The next tag: field number * 8 + wire type. Throws on field number 0 and on tags beyond 32
   * bits.
   */
  tag(): number {
    if (this.pos < this.end) {
      const first = this.bytes[this.pos] as number;
      if (first >= 8 && first < 0x80) {
        this.pos++;
        return first;
      }
    }
    const tag = this.varint();
    if (typeof tag === 'bigint' || tag < 8 || tag > 0xffff_ffff) {
      throw new MalformedMessageError('tag out of range');
    }
    return tag;
  }

  /** A 64-bit number, read as signed. */
  varint(): CallId {
    const bytes = this.bytes;
    const end = this.end;
    let pos = this.pos;
    let value = 0;
    for (let shift = 0; shift < 28; shift += 7) {
      if (pos >= end) throw new MalformedMessageError('truncated number');
      const byte = bytes[pos++] as number;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) {
        this.pos = pos;
        return value;
      }
    }
    this.pos = pos;
    return this.#longVarint(value);
  }

  /** The rest of a number whose first four bytes gave `low`. Bits beyond the 64th are dropped. */
  #longVarint(low28: number): CallId {
    const fifth = this.#byte();
    const low = low28 | ((fifth & 0x0f) << 28);
    let high = (fifth & 0x7f) >> 4;
    if (fifth < 0x80) return joinSigned(low, high);
    for (let shift = 3; shift < 35; shift += 7) {
      const byte = this.#byte();
      if (shift < 32) high |= (byte & 0x7f) << shift;
      if (byte < 0x80) return joinSigned(low, high);
    }
    throw new MalformedMessageError('number of more than 10 bytes');
  }

  #byte(): number {
    if (this.pos >= this.end) throw new MalformedMessageError('truncated number');
    return this.bytes[this.pos++] as number;
  }

  /** A term or an index. Throws NumberOutOfRangeException when it is no safe integer. */
  safeInteger(): number {
    const value = this.varint();
    if (typeof value === 'number') return value;
    throw new NumberOutOfRangeException(`term or index out of range: ${value}`);
  }

  /** An enum or signed 32-bit number; higher bits are dropped. */
  int32(): number {
    const value = this.varint();
    return typeof value === 'number' ? value | 0 : Number(BigInt.asIntN(32, value));
  }

  /** An unsigned 32-bit number; higher bits are dropped. */
  uint32(): number {
    return this.int32() >>> 0;
  }

  bool(): boolean {
    const value = this.varint();
    return value !== 0;
  }

  /** A length, checked: so many bytes are there. */
  length(): number {
    const length = this.varint();
    if (typeof length === 'bigint' || length < 0 || length > this.end - this.pos) {
      throw new MalformedMessageError('length runs past the end');
    }
    return length;
  }

  /** A byte field, as a view. */
  view(): Uint8Array {
    const length = this.length();
    const start = this.pos;
    this.pos = start + length;
    return new Uint8Array(this.bytes.buffer, this.bytes.byteOffset + start, length);
  }

  /** A field of UTF-8 text. */
  text(): string {
    const length = this.length();
    const start = this.pos;
    this.pos = start + length;
    return textAt(this.bytes, start, start + length);
  }

  /** Enters a nested message; give what it returns to `leave`. */
  enter(): number {
    const length = this.length();
    const outer = this.end;
    this.end = this.pos + length;
    return outer;
  }

  leave(outer: number): void {
    this.end = outer;
  }

  /** Steps over the value of an unknown field whose tag was just read. */
  skip(tag: number, depth = 0): void {
    switch (tag & 7) {
      case WireType.VARINT:
        this.varint();
        return;
      case WireType.FIXED64:
        this.#advance(8);
        return;
      case WireType.LENGTH:
        this.#advance(this.length());
        return;
      case WireType.FIXED32:
        this.#advance(4);
        return;
      case WireType.GROUP_START:
        this.#skipGroup(tag + 1, depth + 1);
        return;
      default:
        throw new MalformedMessageError(`unexpected wire type ${tag & 7}`);
    }
  }

  #skipGroup(endTag: number, depth: number): void {
    if (depth > MAX_GROUP_DEPTH) throw new MalformedMessageError('groups nested too deeply');
    for (let tag = this.tag(); tag !== endTag; tag = this.tag()) this.skip(tag, depth);
  }

  #advance(length: number): void {
    if (length > this.end - this.pos) throw new MalformedMessageError('truncated field');
    this.pos += length;
  }
}
