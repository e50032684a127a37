const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Percent-codes `grpc-message`: UTF-8 bytes outside the printable ASCII range, and `%` itself
 * (spec: wire-grpc 4.1).
 */
export function encodeMessage(message: string): string {
  if (/^[\x20-\x24\x26-\x7e]*$/.test(message)) return message;
  let text = '';
  for (const byte of encoder.encode(message)) {
    const plain = byte >= 0x20 && byte <= 0x7e && byte !== 0x25;
    text += plain
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return text;
}

/**
 * Undoes `encodeMessage`. Malformed escapes stay as they are, malformed UTF-8 becomes U+FFFD: a
 * message must never be lost.
 */
export function decodeMessage(text: string): string {
  if (!text.includes('%')) return text;
  const bytes: number[] = [];
  for (let i = 0; i < text.length; i++) {
    const hex = text.charCodeAt(i) === 0x25 ? text.slice(i + 1, i + 3) : '';
    if (/^[0-9a-fA-F]{2}$/.test(hex)) {
      bytes.push(Number.parseInt(hex, 16));
      i += 2;
    } else {
      bytes.push(...encoder.encode(text[i] ?? ''));
    }
  }
  return decoder.decode(new Uint8Array(bytes));
}

/**
 * The longest start of percent-coded `text` that has at most `maxLength` characters and cuts no
 * character of the message.
 */
export function truncateMessage(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  let end = Math.max(0, maxLength);
  for (let back = 1; back <= 2 && end - back >= 0; back++) {
    if (text.charCodeAt(end - back) === 0x25) end -= back;
  }
  // Continuation bytes (80..BF) follow a lead byte; step back to the start of the character that
  // was cut.
  while (end >= 3 && /^%[89AB][0-9A-F]$/.test(text.slice(end, end + 3)) && text[end - 3] === '%')
    end -= 3;
  return text.slice(0, end);
}
