/** Kinds of configuration values (spec: config 4). */
export type KeyType =
  | 'duration'
  | 'size'
  | 'int'
  | 'long'
  | 'double'
  | 'boolean'
  | 'enumeration'
  | 'text'
  | 'path'
  | 'paths'
  | 'list'
  | 'retryPolicy';

/** The key that stands in for an unset one, and the factor on its number (spec: config 5). */
export interface Fallback {
  readonly key: string;
  readonly factor: number;
}

/** What the registry knows of one configuration key. `T` is the type of its value in programs. */
export interface KeyDefinition<T> {
  readonly type: KeyType;
  /** Text of the default; undefined when the key is unset by default. */
  readonly defaultText: string | undefined;
  /** The default of Ratis, where ours differs on purpose. */
  readonly ratisDefaultText?: string;
  /** Acceptable values, for people. */
  readonly range: string;
  /** What the key does, in one or two sentences. */
  readonly meaning: string;
  /** Part of the system that reads the key. */
  readonly component: string;
  readonly fallback?: Fallback;
  /** Another name of the key, read when this one is not set. */
  readonly alias?: string;
  /** Set on an alias: the preferred name. */
  readonly aliasOf?: string;

  /** Value of an expanded, trimmed text. Throws ConfigurationError naming key, value and range. */
  parse(text: string, key: string): T;
  /** Text to store for a value. Throws ConfigurationError when a setter may not take it. */
  format(value: T, key: string): string;
  /** True when the value means "not set" and the fallback applies. */
  isUnset(value: T): boolean;
}

/** A table of definitions by key name. */
export type KeyTable = Readonly<Record<string, KeyDefinition<unknown>>>;

/** The program type of a definition's values. */
export type DefinedValue<D> = D extends KeyDefinition<infer T> ? T : never;

/** Names the component of a whole table. */
export function defineKeys<const T extends KeyTable>(component: string, table: T): T {
  const entries = Object.entries(table).map(([key, definition]) => [
    key,
    { ...definition, component },
  ]);
  return Object.fromEntries(entries) as T;
}
