/**
 * The few ASN.1 DER types that a certificate is made of (ITU-T X.690). Each function gives one
 * whole element.
 */

function element(tag: number, ...content: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  return Buffer.concat([Buffer.of(tag), lengthBytes(body.length), body]);
}

function lengthBytes(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  if (length < 0x100) return Buffer.of(0x81, length);
  return Buffer.of(0x82, length >>> 8, length & 0xff);
}

export function sequence(...items: readonly Uint8Array[]): Buffer {
  return element(0x30, ...items);
}

export function set(...items: readonly Uint8Array[]): Buffer {
  return element(0x31, ...items);
}

export function boolean(value: boolean): Buffer {
  return element(0x01, Buffer.of(value ? 0xff : 0x00));
}

/** A number as two's complement bytes, biggest first. */
export function integer(bytes: Uint8Array): Buffer {
  return element(0x02, bytes);
}

export function octetString(bytes: Uint8Array): Buffer {
  return element(0x04, bytes);
}

export function bitString(bytes: Uint8Array, unusedBits: number): Buffer {
  return element(0x03, Buffer.of(unusedBits), bytes);
}

export function utf8(text: string): Buffer {
  return element(0x0c, Buffer.from(text, 'utf8'));
}

/** Seconds precision, years 1950 to 2049. */
export function utcTime(time: Date): Buffer {
  const digits = time.toISOString().replace(/[-:T]/g, '').slice(2, 14);
  return element(0x17, Buffer.from(`${digits}Z`, 'latin1'));
}

/** An object identifier from its dotted form. */
export function objectId(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const arc of rest) bytes.push(...base128(arc));
  return element(0x06, Buffer.from(bytes));
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let left = value >>> 7; left > 0; left >>>= 7) bytes.unshift((left & 0x7f) | 0x80);
  return bytes;
}

/** A primitive element with a tag of its context. */
export function context(tag: number, bytes: Uint8Array): Buffer {
  return element(0x80 | tag, bytes);
}

/** An element wrapped in a tag of its context. */
export function explicit(tag: number, item: Uint8Array): Buffer {
  return element(0xa0 | tag, item);
}
