import type { CallId } from '../../protocol/ids.js';

/**
 * Buffers up to this size are cut from a shared slab: allocating them one by one costs more than
 * filling them.
 */
const POOLED_BYTES = 1024;
const SLAB_BYTES = 32768;
let slab: ArrayBuffer = new ArrayBuffer(SLAB_BYTES);
let slabUsed = 0;

/**
 * A buffer for exactly one message. Small ones share a slab, so their `buffer` must not be
 * transferred.
 */
export function allocate(sizeBytes: number): Uint8Array {
  if (sizeBytes > POOLED_BYTES) return new Uint8Array(sizeBytes);
  if (slabUsed + sizeBytes > SLAB_BYTES) {
    slab = new ArrayBuffer(SLAB_BYTES);
    slabUsed = 0;
  }
  const bytes = new Uint8Array(slab, slabUsed, sizeBytes);
  slabUsed = (slabUsed + sizeBytes + 7) & ~7;
  return bytes;
}

function longVarintSize(value: CallId): number {
  if (value < 0) return 10;
  let size = 5;
  if (typeof value === 'number') {
    for (let rest = value / 2 ** 35; rest >= 1; rest /= 128) size++;
  } else {
    for (let rest = value >> 35n; rest > 0n; rest >>= 7n) size++;
  }
  return size;
}

/** Bytes of a number as varint; negative ones take 10. */
export function varintSize(value: CallId): number {
  if (typeof value === 'number' && value >= 0) {
    if (value < 0x80) return 1;
    if (value < 0x4000) return 2;
    if (value < 0x20_0000) return 3;
    if (value < 0x1000_0000) return 4;
  }
  return longVarintSize(value);
}

/** Bytes of a number field with a one-byte tag; none when it has its default. */
export function numberFieldSize(value: CallId): number {
  return value === 0 || value === 0n ? 0 : 1 + varintSize(value);
}

/** Bytes of a field with a length and a one-byte tag. */
export function lengthFieldSize(length: number): number {
  return 1 + varintSize(length) + length;
}

/** Like `lengthFieldSize`, but an empty field is left out. */
export function bytesFieldSize(length: number): number {
  return length === 0 ? 0 : lengthFieldSize(length);
}

/**
 * Writes into a buffer whose size was computed before. Tags are those of fields 1 to 15: one byte.
 */
export class Writer {
  readonly bytes: Uint8Array;
  pos = 0;

  constructor(sizeBytes: number) {
    this.bytes = allocate(sizeBytes);
  }

  byte(value: number): void {
    this.bytes[this.pos++] = value;
  }

  varint(value: CallId): void {
    if (typeof value === 'number' && value >= 0 && value < 0x8000_0000) {
      let rest = value;
      while (rest >= 0x80) {
        this.bytes[this.pos++] = (rest & 0x7f) | 0x80;
        rest >>>= 7;
      }
      this.bytes[this.pos++] = rest;
    } else if (typeof value === 'number') {
      this.#halves(value >>> 0, Math.floor(value / 4294967296) >>> 0);
    } else {
      const unsigned = BigInt.asUintN(64, value);
      this.#halves(Number(unsigned & 0xffff_ffffn), Number(unsigned >> 32n));
    }
  }

  #halves(lowHalf: number, highHalf: number): void {
    let low = lowHalf;
    let high = highHalf;
    while (high > 0 || low >= 0x80) {
      this.bytes[this.pos++] = (low & 0x7f) | 0x80;
      low = ((low >>> 7) | (high << 25)) >>> 0;
      high >>>= 7;
    }
    this.bytes[this.pos++] = low;
  }

  raw(bytes: Uint8Array): void {
    const length = bytes.length;
    if (length > 24) {
      this.bytes.set(bytes, this.pos);
    } else {
      for (let i = 0; i < length; i++) this.bytes[this.pos + i] = bytes[i] as number;
    }
    this.pos += length;
  }

  /** Copies `source[start..end)`. */
  slice(source: Uint8Array, start: number, end: number): void {
    if (end > start) this.raw(source.subarray(start, end));
  }

  /** A number field, unless it has its default. */
  numberField(tag: number, value: CallId): void {
    if (value === 0 || value === 0n) return;
    this.byte(tag);
    this.varint(value);
  }

  boolField(tag: number, value: boolean): void {
    if (!value) return;
    this.byte(tag);
    this.byte(1);
  }

  /** Tag and length of a field whose content follows. */
  head(tag: number, length: number): void {
    this.byte(tag);
    this.varint(length);
  }

  /** A field with a length, also when it is empty. */
  lengthField(tag: number, bytes: Uint8Array): void {
    this.head(tag, bytes.length);
    this.raw(bytes);
  }

  /** A field with a length, unless it is empty. */
  bytesField(tag: number, bytes: Uint8Array): void {
    if (bytes.length > 0) this.lengthField(tag, bytes);
  }
}
