import { InvalidArgumentError } from '../../common/errors.js';
import { RaftGroupId } from '../../protocol/ids.js';

/** Group id of the counter example (spec: examples 2). */
export const COUNTER_GROUP_ID = RaftGroupId.parse('02511d47-d67c-49a3-9011-abb3109a44c1');

/** The write that adds one (spec: examples 3.1). */
export const INCREMENT: Uint8Array = new TextEncoder().encode('INCREMENT');
/** The query for the current value (spec: examples 3.1). */
export const GET: Uint8Array = new TextEncoder().encode('GET');

const VALUE_BYTES = 4;
/** Head of a Java object stream that holds one block of four bytes (spec: examples 3.2). */
const SNAPSHOT_HEAD = Uint8Array.of(0xac, 0xed, 0x00, 0x05, 0x77, VALUE_BYTES);

function dataView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A counter value as it travels: 4 bytes, big-endian. */
export function encodeCounterValue(value: number): Uint8Array {
  const bytes = new Uint8Array(VALUE_BYTES);
  dataView(bytes).setInt32(0, value);
  return bytes;
}

/** A counter value from a reply. Throws InvalidArgumentError unless it has 4 bytes. */
export function decodeCounterValue(bytes: Uint8Array | undefined): number {
  if (bytes?.length !== VALUE_BYTES) {
    throw new InvalidArgumentError(
      `a counter value has ${VALUE_BYTES} bytes, not ${bytes?.length ?? 'none'}`,
    );
  }
  return dataView(bytes).getInt32(0);
}

/** Content of a snapshot file: 10 bytes, as the Java example writes them (spec: examples 3.2). */
export function encodeCounterSnapshot(value: number): Uint8Array {
  const bytes = new Uint8Array(SNAPSHOT_HEAD.length + VALUE_BYTES);
  bytes.set(SNAPSHOT_HEAD);
  bytes.set(encodeCounterValue(value), SNAPSHOT_HEAD.length);
  return bytes;
}

/** The value in a snapshot file. Throws InvalidArgumentError when it is none. */
export function decodeCounterSnapshot(bytes: Uint8Array): number {
  const isSnapshot =
    bytes.length === SNAPSHOT_HEAD.length + VALUE_BYTES &&
    SNAPSHOT_HEAD.every((byte, i) => byte === bytes[i]);
  if (!isSnapshot) throw new InvalidArgumentError('this is no snapshot of a counter');
  return decodeCounterValue(bytes.subarray(SNAPSHOT_HEAD.length));
}

/** Whether two byte strings are the same. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, i) => byte === b[i]);
}
