import { MalformedMessageError } from './errors.js';

/**
 * Ids of peers repeat in every message, so their text is kept: two direct-mapped tables of fixed
 * size, from bytes to text and back. Only short texts enter them; anything else is decoded afresh.
 */
const SLOTS = 512;
const MAX_CACHED_BYTES = 64;

interface Slot {
  readonly bytes: Uint8Array;
  readonly text: string;
}

const byBytes: (Slot | undefined)[] = new Array<Slot | undefined>(SLOTS).fill(undefined);
const byText = new Map<string, Uint8Array>();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/**
 * Text of UTF-8 bytes. Throws MalformedMessageError when they are not UTF-8 (spec: wire-grpc 2.2).
 */
export function decodeUtf8(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes);
  } catch (cause) {
    throw new MalformedMessageError('text is not UTF-8', { cause });
  }
}

function equalAt(bytes: Uint8Array, start: number, expected: Uint8Array): boolean {
  for (let i = 0; i < expected.length; i++) {
    if (bytes[start + i] !== expected[i]) return false;
  }
  return true;
}

/** Text of `bytes[start..end)`. Throws MalformedMessageError when it is not UTF-8. */
export function textAt(bytes: Uint8Array, start: number, end: number): string {
  const length = end - start;
  if (length === 0) return '';
  if (length > MAX_CACHED_BYTES) return decodeUtf8(bytes.subarray(start, end));
  let hash = length;
  for (let i = start; i < end; i++) hash = (Math.imul(hash, 31) + (bytes[i] as number)) | 0;
  const place = (hash ^ (hash >>> 9)) & (SLOTS - 1);
  const slot = byBytes[place];
  if (slot !== undefined && slot.bytes.length === length && equalAt(bytes, start, slot.bytes)) {
    return slot.text;
  }
  const text = decodeUtf8(bytes.subarray(start, end));
  byBytes[place] = { bytes: Uint8Array.from(bytes.subarray(start, end)), text };
  return text;
}

/** UTF-8 bytes of a text. The result may be shared: it must not be changed. */
export function utf8Of(text: string): Uint8Array {
  const known = byText.get(text);
  if (known !== undefined) return known;
  const bytes = encoder.encode(text);
  if (bytes.length <= MAX_CACHED_BYTES) {
    if (byText.size >= SLOTS) byText.clear();
    byText.set(text, bytes);
  }
  return bytes;
}
