import { messageOf } from '../common/errors.js';
import { ConfigurationError } from './errors.js';
import type { Fallback, KeyDefinition, KeyType } from './key-definition.js';
import { SizeInBytes } from './size-in-bytes.js';
import { TimeDuration } from './time-duration.js';
import type { TimeUnit } from './time-unit.js';

/** Limits of a number. Sizes may be given as text, durations as milliseconds. */
export interface NumberLimits {
  readonly min?: number;
  readonly max?: number;
  /** Above zero. */
  readonly positive?: boolean;
  /** A stricter minimum for values that a program sets (spec: config 7). */
  readonly setterMin?: number;
}

export interface NumberOptions extends NumberLimits {
  readonly fallback?: Fallback;
  /** A value that means "not set". */
  readonly unsetValue?: number;
  readonly ratisDefaultText?: string;
  readonly alias?: string;
  readonly aliasOf?: string;
  /** More to say about acceptable values. */
  readonly note?: string;
}

/** `key` of another key that stands in, `factor` times. */
export function fallbackTo(key: string, factor = 1): Fallback {
  return { key, factor };
}

export const INT_MAX = 0x7fff_ffff;
const INT_MIN = -0x8000_0000;

interface NumberSyntax {
  readonly type: KeyType;
  read(text: string): number;
  write(value: number): string;
  /** What a value that does not parse is not. */
  readonly kind: string;
}

function checkLimits(key: string, shown: string, value: number, limits: NumberLimits): void {
  const fail = (problem: string): never => {
    throw new ConfigurationError(key, `${key} = ${shown} ${problem}`);
  };
  if (limits.positive === true && value <= 0) fail('is non-positive.');
  if (limits.min !== undefined && value < limits.min) {
    fail(limits.min === 0 ? 'is negative.' : `< min = ${limits.min}`);
  }
  if (limits.max !== undefined && value > limits.max) fail(`> max = ${limits.max}`);
}

function rangeText(limits: NumberLimits, note: string | undefined): string {
  const parts: string[] = [];
  if (limits.positive === true) parts.push('> 0');
  if (limits.min !== undefined) parts.push(`>= ${limits.min}`);
  if (limits.max !== undefined) parts.push(`<= ${limits.max}`);
  const range = parts.length === 0 ? 'any' : parts.join(' and ');
  return note === undefined ? range : `${range}; ${note}`;
}

function numberKey(
  syntax: NumberSyntax,
  defaultText: string | undefined,
  meaning: string,
  options: NumberOptions,
): KeyDefinition<number> {
  const range = rangeText(options, options.note);
  return {
    type: syntax.type,
    defaultText,
    range,
    meaning,
    component: '',
    ...(options.fallback === undefined ? {} : { fallback: options.fallback }),
    ...(options.ratisDefaultText === undefined
      ? {}
      : { ratisDefaultText: options.ratisDefaultText }),
    ...(options.alias === undefined ? {} : { alias: options.alias }),
    ...(options.aliasOf === undefined ? {} : { aliasOf: options.aliasOf }),
    parse(text, key) {
      let value: number;
      try {
        value = syntax.read(text);
      } catch (error) {
        const problem = `Failed to parse ${key} = ${text}: ${messageOf(error)}`;
        throw new ConfigurationError(key, `${problem} (a ${syntax.kind}, ${range})`);
      }
      checkLimits(key, text, value, options);
      return value;
    },
    format(value, key) {
      if (!Number.isFinite(value)) {
        throw new ConfigurationError(key, `${key} = ${value} is not a ${syntax.kind} (${range})`);
      }
      let text: string;
      try {
        text = syntax.write(value);
      } catch (error) {
        throw new ConfigurationError(key, `${key} = ${value}: ${messageOf(error)}`);
      }
      const { setterMin } = options;
      checkLimits(key, text, value, setterMin === undefined ? options : { min: setterMin });
      return text;
    },
    isUnset: (value) => value === options.unsetValue,
  };
}

/** Reads decimal or hexadecimal; `_` between digits is ignored (spec: config 4). */
export function parseInteger(text: string, min: number, max: number): number {
  const digits = text.replaceAll('_', '');
  const match = /^([+-]?)(0[xX][0-9a-fA-F]+|\d+)$/.exec(digits);
  if (match === null) throw new RangeError('not a whole number');
  const magnitude = Number(match[2]);
  const value = match[1] === '-' && magnitude !== 0 ? -magnitude : magnitude;
  if (value < min || value > max) throw new RangeError(`not in ${min}..${max}`);
  return value;
}

function integerSyntax(type: 'int' | 'long', min: number, max: number): NumberSyntax {
  return {
    type,
    kind: 'whole number',
    read: (text) => parseInteger(text, min, max),
    write: (value) => String(parseInteger(String(value), min, max)),
  };
}

const INT = integerSyntax('int', INT_MIN, INT_MAX);
const LONG = integerSyntax('long', Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER);

/** A 32-bit integer. */
export function int(
  defaultText: string,
  meaning: string,
  options: NumberOptions = {},
): KeyDefinition<number> {
  return numberKey(INT, defaultText, meaning, options);
}

/** A 64-bit integer, as far as numbers are exact (2^53). */
export function long(
  defaultText: string,
  meaning: string,
  options: NumberOptions = {},
): KeyDefinition<number> {
  return numberKey(LONG, defaultText, meaning, options);
}

const DOUBLE: NumberSyntax = {
  type: 'double',
  kind: 'number',
  read(text) {
    const literal = text.replaceAll('_', '').replace(/(?<=[\d.])[fFdD]$/, '');
    if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(literal)) {
      throw new RangeError('not a number');
    }
    return Number(literal);
  },
  write: String,
};

/** A floating number. */
export function double(
  defaultText: string,
  meaning: string,
  options: NumberOptions = {},
): KeyDefinition<number> {
  return numberKey(DOUBLE, defaultText, meaning, options);
}

function durationSyntax(defaultUnit: TimeUnit): NumberSyntax {
  return {
    type: 'duration',
    kind: `duration, by default in ${defaultUnit}`,
    read: (text) => TimeDuration.parse(text, defaultUnit).toMs(),
    write: (value) => TimeDuration.ofMs(value).toString(),
  };
}

/** A duration, in milliseconds to programs; text without a unit counts in the default's unit. */
export function duration(
  defaultText: string,
  meaning: string,
  options: NumberOptions = {},
): KeyDefinition<number> {
  const syntax = durationSyntax(TimeDuration.parse(defaultText, 'ms').unit);
  return numberKey(syntax, defaultText, meaning, { min: 0, ...options });
}

/** A duration that another key stands in for. */
export function durationOr(
  fallback: Fallback,
  meaning: string,
  options: NumberOptions = {},
): KeyDefinition<number> {
  return numberKey(durationSyntax('ms'), undefined, meaning, { min: 0, ...options, fallback });
}

const SIZE: NumberSyntax = {
  type: 'size',
  kind: 'size in bytes',
  read: (text) => SizeInBytes.parse(text).sizeBytes,
  write: (value) => SizeInBytes.of(value).input,
};

/** A size, in bytes to programs. */
export function size(
  defaultText: string,
  meaning: string,
  options: NumberOptions = {},
): KeyDefinition<number> {
  return numberKey(SIZE, defaultText, meaning, { min: 0, ...options });
}
