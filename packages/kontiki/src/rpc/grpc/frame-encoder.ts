import type { OutgoingMessage } from '../transport.js';

/** Compressed flag and length in front of each message. */
export const FRAME_HEAD_BYTES = 5;

/** Bytes of a message without its frame head. */
export function messageBytes(message: OutgoingMessage): number {
  if (message instanceof Uint8Array) return message.length;
  let total = 0;
  for (const part of message) total += part.length;
  return total;
}

/**
 * Frames `messages` into one fresh buffer of `totalBytes`, which is the sum of their sizes and
 * heads.
 */
export function encodeFrames(messages: readonly OutgoingMessage[], totalBytes: number): Buffer {
  // Node's pool serves small buffers; a large one of its own is not zeroed, since every byte is
  // written below.
  const target = Buffer.allocUnsafe(totalBytes);
  let offset = 0;
  for (const message of messages) offset = encodeFrame(target, offset, message);
  return target;
}

/** The head of a frame alone. */
export function encodeHead(length: number): Buffer {
  const head = Buffer.allocUnsafe(FRAME_HEAD_BYTES);
  writeHead(head, 0, length);
  return head;
}

function writeHead(target: Buffer, start: number, length: number): void {
  target[start] = 0;
  target[start + 1] = length >>> 24;
  target[start + 2] = length >>> 16;
  target[start + 3] = length >>> 8;
  target[start + 4] = length;
}

function encodeFrame(target: Buffer, start: number, message: OutgoingMessage): number {
  const length = messageBytes(message);
  writeHead(target, start, length);
  let offset = start + FRAME_HEAD_BYTES;
  if (message instanceof Uint8Array) {
    target.set(message, offset);
    return offset + length;
  }
  for (const part of message) {
    target.set(part, offset);
    offset += part.length;
  }
  return offset;
}
