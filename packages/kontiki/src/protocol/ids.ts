import { InvalidArgumentError } from '../common/errors.js';

/** Name of a server within its groups: non-empty text (spec: wire-grpc 2.3). */
export type RaftPeerId = string;

/**
 * A 64-bit call id. A number while it is a safe integer, a bigint beyond; read as signed, so 2^64-1
 * is -1. Call ids are echoed whatever they are, and never computed with, except by the side that
 * made them.
 */
export type CallId = number | bigint;

const HEX: readonly string[] = Array.from({ length: 256 }, (_, i) =>
  i.toString(16).padStart(2, '0'),
);

function toUuidText(bytes: Uint8Array): string {
  let text = '';
  for (let i = 0; i < 16; i++) {
    if (i === 4 || i === 6 || i === 8 || i === 10) text += '-';
    text += HEX[bytes[i] ?? 0] ?? '';
  }
  return text;
}

function parseUuidText(text: string, what: string, orElse = ''): Uint8Array {
  const digits = text.replaceAll('-', '');
  if (!/^[0-9a-fA-F]{8}-?([0-9a-fA-F]{4}-?){3}[0-9a-fA-F]{12}$/.test(text)) {
    throw new InvalidArgumentError(`${what}: "${text}" is not a UUID${orElse}`);
  }
  const bytes = new Uint8Array(16);
  for (let i = 0; i < 16; i++) bytes[i] = Number.parseInt(digits.slice(2 * i, 2 * i + 2), 16);
  return bytes;
}

/** 16 bytes, compared bytewise; the UUID text doubles as a map key. */
abstract class Uuid16 {
  readonly bytes: Uint8Array;
  /** Canonical lower-case UUID text: use it as map key. */
  readonly uuid: string;

  protected constructor(bytes: Uint8Array, what: string) {
    if (bytes.length !== 16) {
      throw new InvalidArgumentError(`${what} must have 16 bytes, but has ${bytes.length}`);
    }
    this.bytes = Uint8Array.from(bytes);
    this.uuid = toUuidText(this.bytes);
  }

  get isZero(): boolean {
    return this.bytes.every((byte) => byte === 0);
  }

  /** Last 12 hex digits in upper case, as the field's logs print ids. */
  protected get shortText(): string {
    return this.uuid.slice(-12).toUpperCase();
  }
}

/** Id of a Raft group (spec: client 1). */
export class RaftGroupId extends Uuid16 {
  private constructor(bytes: Uint8Array) {
    super(bytes, 'group id');
  }

  static of(bytes: Uint8Array): RaftGroupId {
    return new RaftGroupId(bytes);
  }

  /** From UUID text, or from text of exactly 16 UTF-8 bytes (spec: examples 1). */
  static parse(text: string): RaftGroupId {
    const utf8 = new TextEncoder().encode(text);
    if (utf8.length === 16) return new RaftGroupId(utf8);
    return new RaftGroupId(parseUuidText(text, 'group id', ', nor text of 16 bytes'));
  }

  equals(other: RaftGroupId): boolean {
    return this === other || this.uuid === other.uuid;
  }

  override toString(): string {
    return `group-${this.shortText}`;
  }
}

/** Id of a client: with the call id the key of the retry cache (spec: client 1). */
export class ClientId extends Uuid16 {
  private constructor(bytes: Uint8Array) {
    super(bytes, 'client id');
  }

  static of(bytes: Uint8Array): ClientId {
    return new ClientId(bytes);
  }

  static parse(text: string): ClientId {
    return new ClientId(parseUuidText(text, 'client id'));
  }

  equals(other: ClientId): boolean {
    return this === other || this.uuid === other.uuid;
  }

  override toString(): string {
    return `client-${this.shortText}`;
  }
}

/** `peer@group`, as errors and logs name a division (spec: client 1). */
export function memberIdText(peerId: RaftPeerId, groupId: RaftGroupId): string {
  return `${peerId}@${groupId}`;
}
