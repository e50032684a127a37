/**
 * The values that the kill loop writes: each is unique, and tells whether it was damaged on its
 * way.
 */
export interface WriteRecord {
  readonly writer: number;
  /** From 0 on, without gaps, for each writer. */
  readonly sequence: number;
}

const WORD_BYTES = 4;
const RECORD_WORDS = 16;
export const RECORD_BYTES = RECORD_WORDS * WORD_BYTES;
/** What the machine answers: the writer and the sequence. */
export const ANSWER_BYTES = 2 * WORD_BYTES;

/** Scatters the bits of two numbers over 32. */
export function mix(a: number, b: number): number {
  let hash = Math.imul(a ^ 0x9e37_79b9, 0x85eb_ca6b) ^ Math.imul(b + 0x7f4a_7c15, 0xc2b2_ae35);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b_3c6d);
  hash = Math.imul(hash ^ (hash >>> 12), 0x297a_2d39);
  return (hash ^ (hash >>> 15)) >>> 0;
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A record as the message of a write. */
export function encodeRecord({ writer, sequence }: WriteRecord): Uint8Array {
  const bytes = new Uint8Array(RECORD_BYTES);
  const words = view(bytes);
  words.setUint32(0, writer);
  words.setUint32(WORD_BYTES, sequence);
  for (let i = 2; i < RECORD_WORDS; i++) {
    words.setUint32(i * WORD_BYTES, mix(mix(writer, sequence), i));
  }
  return bytes;
}

/** The record of a message, or undefined when a bit of it is wrong. */
export function decodeRecord(bytes: Uint8Array): WriteRecord | undefined {
  if (bytes.length !== RECORD_BYTES) return undefined;
  const words = view(bytes);
  const writer = words.getUint32(0);
  const sequence = words.getUint32(WORD_BYTES);
  const seed = mix(writer, sequence);
  for (let i = 2; i < RECORD_WORDS; i++) {
    if (words.getUint32(i * WORD_BYTES) !== mix(seed, i)) return undefined;
  }
  return { writer, sequence };
}

/** The answer to a write. */
export function encodeAnswer({ writer, sequence }: WriteRecord): Uint8Array {
  const bytes = new Uint8Array(ANSWER_BYTES);
  view(bytes).setUint32(0, writer);
  view(bytes).setUint32(WORD_BYTES, sequence);
  return bytes;
}

/** Whether an answer is the one to this write. */
export function isAnswerTo(answer: Uint8Array | undefined, record: WriteRecord): boolean {
  return (
    answer?.length === ANSWER_BYTES &&
    view(answer).getUint32(0) === record.writer &&
    view(answer).getUint32(WORD_BYTES) === record.sequence
  );
}
