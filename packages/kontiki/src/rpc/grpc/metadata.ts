import type { IncomingHttpHeaders } from 'node:http2';
import { InvalidArgumentError } from '../../common/errors.js';
import type { Metadata } from '../transport.js';

/**
 * Header names that belong to the protocol; they never show up in metadata and cannot be set by it.
 */
const RESERVED: ReadonlySet<string> = new Set([
  'content-type',
  'te',
  'user-agent',
  'date',
  'connection',
  'host',
  'content-length',
]);

/**
 * Adds metadata to a header block. Throws InvalidArgumentError when a name or value cannot be sent.
 */
export function addMetadata(headers: Record<string, string>, metadata: Metadata): void {
  for (const [name, value] of Object.entries(metadata)) {
    if (!/^[0-9a-z_.-]+$/.test(name) || isReserved(name)) {
      throw new InvalidArgumentError(`not a metadata name: ${JSON.stringify(name)}`);
    }
    headers[name] = encodeValue(name, value);
  }
}

function encodeValue(name: string, value: string | Uint8Array): string {
  const binary = name.endsWith('-bin');
  if (binary !== (typeof value !== 'string')) {
    throw new InvalidArgumentError(`metadata ${name} must hold ${binary ? 'bytes' : 'text'}`);
  }
  if (typeof value !== 'string') return encodeBinary(value);
  if (!/^[\x20-\x7e]*$/.test(value)) {
    throw new InvalidArgumentError(`metadata ${name} holds characters other than printable ASCII`);
  }
  return value;
}

/** Base64 without padding, as Java writes binary headers (spec: wire-grpc 4.1). */
export function encodeBinary(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString('base64')
    .replace(/=+$/, '');
}

/**
 * Reads a binary header: padded or not; of several values joined by commas the last one counts, as
 * in Java's `Metadata.get`.
 */
export function decodeBinary(text: string): Uint8Array {
  const last = text.slice(text.lastIndexOf(',') + 1).trim();
  return new Uint8Array(Buffer.from(last, 'base64'));
}

/** The metadata of a received header block. */
export function readMetadata(headers: IncomingHttpHeaders): Metadata {
  const metadata: Record<string, string | Uint8Array> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined || isReserved(name)) continue;
    const text = Array.isArray(value) ? value.join(', ') : value;
    metadata[name] = name.endsWith('-bin') ? decodeBinary(text) : text;
  }
  return metadata;
}

function isReserved(name: string): boolean {
  return name.startsWith(':') || name.startsWith('grpc-') || RESERVED.has(name);
}

/**
 * Size of a header list as HTTP/2 counts it: name, value and 32 bytes for each field (spec:
 * wire-grpc 3.1).
 */
export function headerListBytes(headers: Readonly<Record<string, string>>): number {
  let total = 0;
  for (const [name, value] of Object.entries(headers)) total += name.length + value.length + 32;
  return total;
}
