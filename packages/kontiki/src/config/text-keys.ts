import { ConfigurationError } from './errors.js';
import type { Fallback, KeyDefinition, KeyType } from './key-definition.js';
import { INT_MAX, type NumberOptions, parseInteger } from './number-keys.js';

interface TextOptions {
  readonly range?: string;
  readonly fallback?: Fallback;
  readonly ratisDefaultText?: string;
}

type Syntax<T> = Pick<KeyDefinition<T>, 'type' | 'parse' | 'format' | 'isUnset'>;

function keyOf<T>(
  syntax: Syntax<T>,
  defaultText: string | undefined,
  range: string,
  meaning: string,
  options: TextOptions = {},
): KeyDefinition<T> {
  return {
    ...syntax,
    defaultText,
    range: options.range ?? range,
    meaning,
    component: '',
    ...(options.fallback === undefined ? {} : { fallback: options.fallback }),
    ...(options.ratisDefaultText === undefined
      ? {}
      : { ratisDefaultText: options.ratisDefaultText }),
  };
}

/** `true`, `t`, `false` or `f` in any case; other text means the default (spec: config 4). */
export function bool(
  defaultText: 'true' | 'false',
  meaning: string,
  options: TextOptions = {},
): KeyDefinition<boolean> {
  const defaultValue = defaultText === 'true';
  const syntax: Syntax<boolean> = {
    type: 'boolean',
    parse(text) {
      const lower = text.toLowerCase();
      if (lower === 'true' || lower === 't') return true;
      return lower === 'false' || lower === 'f' ? false : defaultValue;
    },
    format: String,
    isUnset: () => false,
  };
  return keyOf(syntax, defaultText, 'true | false', meaning, options);
}

function enumerationSyntax<C extends string>(
  constants: readonly C[],
  normalize: (text: string) => string,
): Syntax<C> {
  const find = (text: string, key: string): C => {
    const constant = constants.find((name) => name === normalize(text));
    if (constant !== undefined) return constant;
    throw new ConfigurationError(key, `${key} = ${text} is none of ${constants.join(', ')}`);
  };
  return { type: 'enumeration', parse: find, format: find, isUnset: () => false };
}

/** One of some constants, exactly as written. */
export function enumeration<const C extends string>(
  constants: readonly C[],
  defaultText: C,
  meaning: string,
  options: TextOptions = {},
): KeyDefinition<C> {
  const syntax = enumerationSyntax(constants, (text) => text);
  return keyOf(syntax, defaultText, constants.join(' | '), meaning, options);
}

/** One of some upper-case constants, written in any case. */
export function enumerationIgnoringCase<const C extends string>(
  constants: readonly C[],
  defaultText: C,
  meaning: string,
): KeyDefinition<C> {
  const syntax = enumerationSyntax(constants, (text) => text.toUpperCase());
  return keyOf(syntax, defaultText, `${constants.join(' | ')}, in any case`, meaning);
}

function textSyntax(type: KeyType): Syntax<string> {
  return { type, parse: (text) => text, format: (value) => value, isUnset: () => false };
}

function optionalSyntax(type: KeyType): Syntax<string | undefined> {
  return {
    type,
    parse: (text) => text,
    format: (value) => value ?? '',
    isUnset: (value) => value === undefined,
  };
}

/** The name of a transport: known ones in any case, others as they are written. */
export function rpcTypeName(
  known: readonly string[],
  defaultText: string,
  meaning: string,
): KeyDefinition<string> {
  const normalize = (text: string): string => {
    const upper = text.toUpperCase();
    return known.includes(upper) ? upper : text;
  };
  const range = `${defaultText}, or the name of a transport that the program gives`;
  return keyOf({ ...textSyntax('text'), parse: normalize }, defaultText, range, meaning);
}

/** Text that is undefined when not set. */
export function optionalText(
  meaning: string,
  options: TextOptions = {},
): KeyDefinition<string | undefined> {
  return keyOf(optionalSyntax('text'), undefined, 'any', meaning, options);
}

/** An integer that is undefined when not set. */
export function optionalInt(
  meaning: string,
  limits: Pick<NumberOptions, 'min' | 'max' | 'note'>,
): KeyDefinition<number | undefined> {
  const { min = 0, max = INT_MAX, note } = limits;
  const range = `>= ${min} and <= ${max}${note === undefined ? '' : `; ${note}`}`;
  const read = (text: string, key: string): number => {
    try {
      return parseInteger(text, min, max);
    } catch (cause) {
      throw new ConfigurationError(key, `${key} = ${text} is no whole number ${range}`, { cause });
    }
  };
  const syntax: Syntax<number | undefined> = {
    type: 'int',
    parse: read,
    format: (value, key) => (value === undefined ? '' : String(read(String(value), key))),
    isUnset: (value) => value === undefined,
  };
  return keyOf(syntax, undefined, range, meaning);
}

/** A retry policy; whoever uses the key parses it (spec: client 7.1). */
export function retryPolicyText(defaultText: string, meaning: string): KeyDefinition<string> {
  return keyOf(textSyntax('retryPolicy'), defaultText, 'a retry policy', meaning);
}

/** One path, as it is written. */
export function path(defaultText: string, meaning: string): KeyDefinition<string> {
  return keyOf(textSyntax('path'), defaultText, 'a path', meaning);
}

function listSyntax(type: 'paths' | 'list'): Syntax<readonly string[]> {
  return {
    type,
    parse: (text) => (text.trim() === '' ? [] : text.split(',').map((part) => part.trim())),
    format(value, key) {
      const bad = value.find((part) => part.includes(',') || part.trim() === '');
      if (bad === undefined) return value.join(',');
      throw new ConfigurationError(key, `${key}: "${bad}" cannot be an element of a list`);
    },
    isUnset: () => false,
  };
}

/** Paths separated by commas, as they are written. */
export function paths(defaultText: string, meaning: string): KeyDefinition<readonly string[]> {
  return keyOf(listSyntax('paths'), defaultText, 'paths, separated by commas', meaning);
}

/** Text elements separated by commas; empty when not set. */
export function list(range: string, meaning: string): KeyDefinition<readonly string[]> {
  return keyOf(listSyntax('list'), '', range, meaning);
}
