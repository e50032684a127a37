import { InvalidArgumentError } from '../common/errors.js';

const PREFIXES = 'kmgtpe';
const MAX_LONG = 2n ** 63n - 1n;
const MIN_LONG = -(2n ** 63n);

function parseWhole(digits: string, text: string): bigint {
  const trimmed = digits.trim().replaceAll('_', '');
  if (!/^[+-]?\d+$/.test(trimmed)) throw new InvalidArgumentError(`"${text}" is not a size`);
  return BigInt(trimmed.startsWith('+') ? trimmed.slice(1) : trimmed);
}

function parseBytes(text: string): bigint {
  const body = text.trim().replace(/[bB]$/, '').trimEnd();
  const last = body.slice(-1);
  if (last === '' || /[\d_]/.test(last)) return parseWhole(body, text);
  const exponent = PREFIXES.indexOf(last.toLowerCase()) + 1;
  if (exponent === 0) {
    throw new InvalidArgumentError(
      `Invalid size prefix '${last}' in '${text}': it must be one of k, m, g, t, p, e`,
    );
  }
  return parseWhole(body.slice(0, -1), text) * 1024n ** BigInt(exponent);
}

/** A count of bytes together with the text it was read from (spec: config 4.2). Immutable. */
export class SizeInBytes {
  readonly sizeBytes: number;
  /** What was read, e.g. `64MB`. */
  readonly input: string;

  private constructor(sizeBytes: number, input: string) {
    this.sizeBytes = sizeBytes;
    this.input = input;
  }

  static of(sizeBytes: number): SizeInBytes {
    if (!Number.isSafeInteger(sizeBytes)) {
      throw new InvalidArgumentError(`${sizeBytes} is not a whole count of bytes`);
    }
    return new SizeInBytes(sizeBytes, String(sizeBytes));
  }

  /**
   * Reads a count with an optional power of 1024 (`64MB`, `64m`, `8 KB`, `200_000`). Throws
   * InvalidArgumentError on an unknown prefix, an overflow of 64 bits or text that is no number.
   */
  static parse(text: string): SizeInBytes {
    const bytes = parseBytes(text);
    if (bytes > MAX_LONG || bytes < MIN_LONG) {
      throw new InvalidArgumentError(`"${text}" does not fit in a Long`);
    }
    return new SizeInBytes(Number(bytes), text);
  }

  /** The input, followed by the count of bytes when it says that differently. */
  toString(): string {
    const plain = String(this.sizeBytes);
    return this.input === plain ? plain : `${this.input} (=${plain})`;
  }
}
