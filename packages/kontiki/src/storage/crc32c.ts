import { loadNativeModule, type NativeModule } from '../runtime/native-module.js';

/** The part of `@node-rs/crc32` that is used. */
interface NativeCrc {
  crc32c(input: Uint8Array, initial?: number): number;
}

/** CRC-32C, reflected (spec: storage 4.2). */
const POLYNOMIAL = 0x82f63b78;
/** Calling native code costs more than the table below this length. */
const NATIVE_FROM_BYTES = 200;

function makeTable(): Int32Array {
  const table = new Int32Array(256);
  for (let n = 0; n < 256; n++) {
    let value = n;
    for (let bit = 0; bit < 8; bit++) {
      value = (value & 1) === 1 ? (value >>> 1) ^ POLYNOMIAL : value >>> 1;
    }
    table[n] = value;
  }
  return table;
}

const TABLE = makeTable();
let native: NativeModule<NativeCrc> | undefined;

/** CRC-32C of `bytes[from..to)`, by the table. `initial` is the checksum of what came before. */
export function crc32cByTable(bytes: Uint8Array, from: number, to: number, initial = 0): number {
  let crc = ~initial;
  for (let i = from; i < to; i++) {
    // The indices are in range by construction; `as number` instead of a check keeps the loop
    // tight.
    crc = (TABLE[(crc ^ (bytes[i] as number)) & 0xff] as number) ^ (crc >>> 8);
  }
  return ~crc >>> 0;
}

/**
 * CRC-32C of `bytes[from..to)` as an unsigned number; `initial` is the checksum of what came
 * before.
 */
export function crc32c(bytes: Uint8Array, from = 0, to = bytes.length, initial = 0): number {
  if (to - from < NATIVE_FROM_BYTES) return crc32cByTable(bytes, from, to, initial);
  native ??= loadNativeModule<NativeCrc>('@node-rs/crc32');
  if (native.module === undefined) return crc32cByTable(bytes, from, to, initial);
  return native.module.crc32c(bytes.subarray(from, to), initial);
}
