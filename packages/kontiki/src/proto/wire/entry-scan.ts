import type { CallId } from '../../protocol/ids.js';
import { Reader } from './reader.js';
import { EntryKind } from './types.js';

/** Where the parts of a log entry lie in its bytes. Offsets count from the start of the entry. */
export class EntryScan {
  term = 0;
  index = 0;
  kind: EntryKind = EntryKind.NONE;
  /** Content of the body's message, and its tag. */
  bodyTag = 0;
  bodyStart = 0;
  bodyEnd = 0;
  /** The field stateMachineEntry with its tag, empty when absent. */
  separateStart = 0;
  separateEnd = 0;
  hasSeparate = false;
  dataStart = 0;
  dataEnd = 0;
  /** logEntryProtoSerializedSize. */
  fullSizeBytes = 0;
  logDataStart = 0;
  logDataEnd = 0;
  type = 0;
  clientIdStart = 0;
  clientIdEnd = 0;
  callId: CallId = 0;
  commitIndex = 0;
}

/**
 * Reads an entry that is expected to be canonical. With `strict`, returns false at the first sign
 * that it is not (another order of fields, a default that is written, a padded number, an unknown
 * field, a configuration); without, it is known to be canonical but for unknown fields at the end
 * of its messages.
 */
class Scanner {
  readonly reader: Reader;
  readonly scan = new EntryScan();
  readonly strict: boolean;
  readonly base: number;
  canonical = true;
  #last = 0;

  constructor(reader: Reader, strict: boolean) {
    this.reader = reader;
    this.strict = strict;
    this.base = reader.pos;
  }

  get #offset(): number {
    return this.reader.pos - this.base;
  }

  /** The number just read is the shortest form of something that is not zero. */
  #checkNumber(start: number): void {
    const { bytes, pos } = this.reader;
    const last = bytes[pos - 1] as number;
    if (last === 0 || (pos - start === 10 && last !== 1)) this.canonical = false;
  }

  #checkLength(start: number): void {
    const { bytes, pos } = this.reader;
    if (pos - start > 1 && bytes[pos - 1] === 0) this.canonical = false;
  }

  index(): number {
    const start = this.reader.pos;
    const value = this.reader.safeInteger();
    this.#checkNumber(start);
    return value;
  }

  callId(): CallId {
    const start = this.reader.pos;
    const value = this.reader.varint();
    this.#checkNumber(start);
    return value;
  }

  int32(): number {
    const start = this.reader.pos;
    const value = this.reader.varint();
    this.#checkNumber(start);
    if (typeof value !== 'number' || value !== (value | 0)) this.canonical = false;
    return Number(value) | 0;
  }

  uint32(): number {
    const start = this.reader.pos;
    const value = this.reader.varint();
    this.#checkNumber(start);
    if (typeof value !== 'number' || value !== value >>> 0) this.canonical = false;
    return Number(value) >>> 0;
  }

  /** Enters a length-delimited field. */
  enter(): number {
    const start = this.reader.pos;
    const length = this.reader.length();
    this.#checkLength(start);
    const outer = this.reader.end;
    this.reader.end = this.reader.pos + length;
    return outer;
  }

  /** Steps over a byte field that must not be empty; returns its first offset. */
  bytes(): number {
    const outer = this.enter();
    const start = this.#offset;
    if (this.reader.pos === this.reader.end) this.canonical = false;
    this.reader.pos = this.reader.end;
    this.reader.end = outer;
    return start;
  }

  /** The next tag of the message at hand, 0 at its end or where the known fields end. */
  tag(): number {
    const { reader } = this;
    if (!this.canonical || reader.pos >= reader.end) return 0;
    return reader.bytes[reader.pos++] as number;
  }

  /** An unexpected tag: the form is not canonical, or the rest of the message is unknown fields. */
  unknown(): void {
    if (this.strict) this.canonical = false;
    this.reader.pos = this.reader.end;
  }

  /** True when the tags come in ascending order, each once. */
  ascends(previous: number, tag: number): boolean {
    if (tag > previous && tag < 0x80) return true;
    this.unknown();
    return false;
  }

  separate(tagStart: number): void {
    const { scan, reader } = this;
    scan.hasSeparate = true;
    scan.separateStart = tagStart;
    const outer = this.enter();
    for (let last = 0, tag = this.tag(); tag !== 0; last = tag, tag = this.tag()) {
      if (!this.ascends(last, tag)) break;
      if (tag === 0x0a) {
        scan.dataStart = this.bytes();
        scan.dataEnd = this.#offset;
      } else if (tag === 0x10) scan.fullSizeBytes = this.uint32();
      else this.unknown();
    }
    scan.separateEnd = this.#offset;
    reader.end = outer;
  }

  stateMachineBody(): void {
    const { scan } = this;
    for (let last = 0, tag = this.tag(); tag !== 0; last = tag, tag = this.tag()) {
      if (!this.ascends(last, tag)) break;
      if (tag === 0x0a) {
        scan.logDataStart = this.bytes();
        scan.logDataEnd = this.#offset;
      } else if (tag === 0x12) this.separate(this.#offset - 1);
      else if (tag === 0x68) scan.type = this.int32();
      else if (tag === 0x72) {
        scan.clientIdStart = this.bytes();
        scan.clientIdEnd = this.#offset;
      } else if (tag === 0x78) scan.callId = this.callId();
      else this.unknown();
    }
  }

  metadataBody(): void {
    for (let last = 0, tag = this.tag(); tag !== 0; last = tag, tag = this.tag()) {
      if (!this.ascends(last, tag)) break;
      if (tag === 0x08) this.scan.commitIndex = this.index();
      else this.unknown();
    }
  }

  body(tag: number): void {
    const { scan, reader } = this;
    const outer = this.enter();
    scan.bodyTag = tag;
    scan.bodyStart = this.#offset;
    scan.bodyEnd = reader.end - this.base;
    if (tag === 0x1a) {
      scan.kind = EntryKind.STATE_MACHINE;
      this.stateMachineBody();
    } else if (tag === 0x22) {
      scan.kind = EntryKind.CONFIGURATION;
      if (this.strict) this.canonical = false;
      reader.pos = reader.end;
    } else {
      scan.kind = EntryKind.METADATA;
      this.metadataBody();
    }
    reader.end = outer;
  }

  entry(): void {
    const { scan } = this;
    for (let tag = this.tag(); tag !== 0; tag = this.tag()) {
      if (!this.ascends(this.#last, tag)) return;
      this.#last = tag;
      if (tag === 0x08) scan.term = this.index();
      else if (tag === 0x10) scan.index = this.index();
      else if (tag === 0x1a || tag === 0x22 || tag === 0x2a) {
        this.body(tag);
        // The body is a oneof: a second one is not canonical, whichever it is.
        this.#last = 0x2a;
      } else this.unknown();
    }
  }
}

/**
 * Scans `reader.pos` to `reader.end`. Returns undefined when the form is not canonical, or cannot
 * be told so cheaply; the reader then is anywhere. Throws MalformedMessageError,
 * NumberOutOfRangeException.
 */
export function scanCanonical(reader: Reader): EntryScan | undefined {
  const scanner = new Scanner(reader, true);
  scanner.entry();
  return scanner.canonical ? scanner.scan : undefined;
}

/** Scans an entry that came out of `canonicalEntry` or of this codec. */
export function scanKnown(bytes: Uint8Array): EntryScan {
  const scanner = new Scanner(new Reader(bytes), false);
  scanner.entry();
  return scanner.scan;
}
