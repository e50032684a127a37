/** Buffers made here, which nobody else writes to: only their unused ends may be filled. */
const growing = new WeakSet<ArrayBufferLike>();

/**
 * Serialized messages are merged by joining their bytes. That is rare, but a hostile sender can
 * repeat a field without end: so room doubles, and the work stays in proportion to the frame.
 */
export function joinSerialized(first: Uint8Array | undefined, second: Uint8Array): Uint8Array {
  if (first === undefined) return second;
  const length = first.length + second.length;
  const used = first.byteOffset + first.length;
  if (growing.has(first.buffer) && first.buffer.byteLength - used >= second.length) {
    new Uint8Array(first.buffer, used, second.length).set(second);
    return new Uint8Array(first.buffer, first.byteOffset, length);
  }
  const buffer = new ArrayBuffer(2 * length);
  growing.add(buffer);
  const joined = new Uint8Array(buffer, 0, length);
  joined.set(first);
  joined.set(second, first.length);
  return joined;
}
