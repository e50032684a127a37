import { crc32c } from './crc32c.js';
import type { FileWindow } from './file-window.js';
import { CHECKSUM_BYTES, readChecksum, recordSize, writeVarint } from './segment-format.js';

/** Unit that a disk writes whole or not at all. */
const SECTOR_BYTES = 512;
/** Fields of an entry, with room for unknown ones. */
const FIELDS_MAX = 16;
const LENGTH_BYTES_MAX = 5;

/** Position behind the protobuf field at `at`, or undefined when there is no whole field. */
function endOfField(bytes: Uint8Array, at: number): number | undefined {
  const readVarint = (from: number): { value: number; next: number } | undefined => {
    let value = 0;
    for (let i = 0; i < 10; i++) {
      const byte = bytes[from + i];
      if (byte === undefined) return undefined;
      value += (byte & 0x7f) * 2 ** (7 * i);
      if (byte < 0x80) return { value, next: from + i + 1 };
    }
    return undefined;
  };
  const tag = readVarint(at);
  if (tag === undefined || tag.value < 8) return undefined;
  const next = readVarint(tag.next);
  if (next === undefined) return undefined;
  const wireType = tag.value & 7;
  if (wireType === 0) return next.next;
  if (wireType !== 2) return undefined;
  const end = next.next + next.value;
  return end <= bytes.length ? end : undefined;
}

/**
 * Whether a whole, intact record starts at bytes[0] under another length than its prefix says. Then
 * the prefix is what was damaged, and the record was written completely: it may be acknowledged.
 */
export function isIntactUnderOtherLength(bytes: Uint8Array): boolean {
  for (let prefixBytes = 1; prefixBytes <= LENGTH_BYTES_MAX; prefixBytes++) {
    let end = prefixBytes;
    for (let field = 0; field < FIELDS_MAX; field++) {
      const next = endOfField(bytes, end);
      if (next === undefined || next + CHECKSUM_BYTES > bytes.length) break;
      end = next;
      const protoBytes = end - prefixBytes;
      if (recordSize(protoBytes) !== prefixBytes + protoBytes + CHECKSUM_BYTES) continue;
      const prefix = new Uint8Array(prefixBytes);
      writeVarint(prefix, 0, protoBytes);
      const crc = crc32c(bytes, prefixBytes, end, crc32c(prefix));
      if (crc === readChecksum(bytes, end)) return true;
    }
  }
  return false;
}

async function coversZeroSector(window: FileWindow, from: number, to: number): Promise<boolean> {
  for (let sector = from - (from % SECTOR_BYTES); sector < to; sector += SECTOR_BYTES) {
    const end = Math.min(sector + SECTOR_BYTES, window.sizeBytes);
    if (!window.holds(sector, end - sector)) await window.fill(sector, SECTOR_BYTES);
    if (
      window
        .bytesAt(sector)
        .subarray(0, end - sector)
        .every((byte) => byte === 0)
    )
      return true;
  }
  return false;
}

/**
 * Whether the bad record at `position` is one whose writing was cut short, rather than a damaged
 * one (design: section 3). It is, when it runs past the end of the file; or when a 512-byte sector
 * that it covers is all zero and only zeros follow it. The caller has checked that the segment is
 * open, and that no known commit index reaches the record.
 *
 * A damaged length can make a complete record look cut short; such a record is recognised by its
 * checksum and counts as damage.
 *
 * @param recordEnd position behind the record as its prefix tells, undefined when the prefix itself
 * is cut by the end of the file
 */
export async function isTornRecord(
  window: FileWindow,
  position: number,
  recordEnd: number | undefined,
  entrySizeMaxBytes: number,
): Promise<boolean> {
  const reachBytes = Math.min(entrySizeMaxBytes, window.sizeBytes - position);
  if (!window.holds(position, reachBytes)) await window.fill(position, reachBytes);
  if (isIntactUnderOtherLength(window.bytesAt(position))) return false;
  if (recordEnd === undefined || recordEnd > window.sizeBytes) return true;
  if ((await window.firstNonZero(recordEnd)) !== undefined) return false;
  return coversZeroSector(window, position, recordEnd);
}
