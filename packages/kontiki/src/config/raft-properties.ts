import { InvalidArgumentError, messageOf } from '../common/errors.js';
import { type Logger, type LogLevel, NULL_LOGGER } from '../common/logger.js';
import { ConfigurationError } from './errors.js';
import { expandVariables, type Lookups, NO_LOOKUPS } from './expansion.js';
import { PARAMETER_KEYS } from './keys/parameter-keys.js';
import { UNUSED_KEYS } from './keys/unused-keys.js';
import {
  definitionOf,
  isKeyName,
  type KeyName,
  type KeyValue,
  nearestKey,
  type RaftOptions,
} from './registry.js';

/** Where a value came from. */
export type ValueSource = 'default' | 'set' | 'fallback';

/** A value together with its source, and for a fallback the key that gave it. */
export interface SourcedValue<T> {
  readonly value: T;
  readonly source: ValueSource;
  readonly fallbackKey?: string;
}

/** A key that is set and that nobody reads. */
export interface UnknownKey {
  readonly key: string;
  /** The known key that was perhaps meant. */
  readonly nearest: string | undefined;
}

export interface PropertiesContext {
  readonly lookups?: Lookups;
  readonly logger?: Logger;
}

const OWN_PREFIX = /^(raft|kontiki)\./;
const CLIENT_KEY = /^raft\.(client|netty\.client|netty\.dataStream\.client)\./;

function warningOf(name: string): string | undefined {
  if (Object.hasOwn(PARAMETER_KEYS, name)) {
    return `${name} is an object that programs give; its text has no effect`;
  }
  const reason = UNUSED_KEYS.get(name);
  if (reason !== undefined) return `${name} has no effect: ${reason.replace(/\.$/, '')}`;
  if (!OWN_PREFIX.test(name) || isKeyName(name)) return undefined;
  const nearest = nearestKey(name);
  return `unknown key ${name}${nearest === undefined ? '' : `; did you mean ${nearest}?`}`;
}

/**
 * The configuration of a server or client: raw text by key name, read as typed values
 * (spec: config 1 to 7). A copy does not follow later changes of its original.
 */
export class RaftProperties {
  private readonly entries = new Map<string, string>();
  private readonly lookups: Lookups;
  private readonly logger: Logger;
  private readonly logged = new Map<string, string>();
  /** Keys that were warned of; shared with copies. */
  private warned = new Set<string>();

  constructor(context: PropertiesContext = {}) {
    this.lookups = context.lookups ?? NO_LOOKUPS;
    this.logger = context.logger ?? NULL_LOGGER;
  }

  /** From options by key. Throws ConfigurationError at the first value that is not acceptable. */
  static from(options: RaftOptions, context: PropertiesContext = {}): RaftProperties {
    const properties = new RaftProperties(context);
    for (const [key, value] of Object.entries(options)) {
      if (value === undefined) continue;
      if (typeof value === 'string' || !isKeyName(key)) properties.setRaw(key, String(value));
      else properties.set(key, value);
    }
    properties.validate();
    return properties;
  }

  /** From raw text by key, such as a file's. Throws ConfigurationError like `from`. */
  static fromEntries(
    entries: Iterable<readonly [string, string]>,
    context: PropertiesContext = {},
  ): RaftProperties {
    const properties = new RaftProperties(context);
    for (const [key, value] of entries) properties.setRaw(key, value);
    properties.validate();
    return properties;
  }

  /** The text of a key, without expansion; undefined when it is not set. */
  getRaw(name: string): string | undefined {
    return this.entries.get(name.trim());
  }

  /** The text of a key with its variables expanded, not trimmed. */
  getExpanded(name: string): string | undefined {
    const raw = this.getRaw(name);
    if (raw === undefined) return undefined;
    try {
      return expandVariables(raw, (key) => this.getRaw(key), this.lookups);
    } catch (cause) {
      throw new ConfigurationError(name, `${name} = ${raw}: ${messageOf(cause)}`, { cause });
    }
  }

  /** Stores text as it is, under any name. */
  setRaw(name: string, text: string): this {
    if (typeof name !== 'string') throw new InvalidArgumentError('name == null');
    if (typeof text !== 'string') throw new InvalidArgumentError(`value == null for ${name}`);
    this.entries.set(name.trim(), text);
    this.log('debug', `set ${name.trim()} = ${text}`);
    return this;
  }

  /** Stores a value. Throws ConfigurationError when it is not acceptable (spec: config 7). */
  set<K extends KeyName>(key: K, value: KeyValue<K>): this {
    return this.setRaw(key, definitionOf(key).format(value, key));
  }

  /** Stores text unless the key has a value. */
  setIfUnset(name: string, text: string): this {
    return this.getExpanded(name) === undefined ? this.setRaw(name, text) : this;
  }

  unset(name: string): this {
    this.entries.delete(name.trim());
    return this;
  }

  clear(): void {
    this.entries.clear();
  }

  get size(): number {
    return this.entries.size;
  }

  /** All names with their raw text. */
  rawEntries(): IterableIterator<[string, string]> {
    return this.entries.entries();
  }

  copy(): RaftProperties {
    const copy = new RaftProperties({ lookups: this.lookups, logger: this.logger });
    for (const [name, text] of this.entries) copy.entries.set(name, text);
    copy.warned = this.warned;
    return copy;
  }

  /** The value of a key. Throws ConfigurationError when what is set is not acceptable. */
  get<K extends KeyName>(key: K): KeyValue<K> {
    return this.getWithSource(key).value;
  }

  /** The value of a key and where it came from. Throws like `get`. */
  getWithSource<K extends KeyName>(key: K): SourcedValue<KeyValue<K>> {
    const definition = definitionOf(key);
    const { aliasOf } = definition;
    if (aliasOf !== undefined && isKeyName(aliasOf)) {
      return this.getWithSource(aliasOf) as SourcedValue<KeyValue<K>>;
    }
    const name =
      definition.alias !== undefined && this.getRaw(key) === undefined ? definition.alias : key;
    const text = this.getExpanded(name)?.trim();
    const set = text === undefined ? undefined : definition.parse(text, name);
    if (set !== undefined && !definition.isUnset(set)) {
      this.logOnce(name, `${text} (custom)`);
      return { value: set, source: 'set' };
    }
    return this.unsetValue(key);
  }

  /** Reads every known key that is set. Throws ConfigurationError at the first bad value. */
  validate(): void {
    for (const name of this.entries.keys()) {
      if (isKeyName(name)) definitionOf(name).parse(this.getExpanded(name)?.trim() ?? '', name);
    }
  }

  /** Names under `raft.` and `kontiki.` that are set and that nothing reads. */
  unknownKeys(): UnknownKey[] {
    return [...this.entries.keys()]
      .filter((name) => OWN_PREFIX.test(name) && !isKeyName(name))
      .map((key) => ({ key, nearest: nearestKey(key) }));
  }

  /**
   * What an operator should hear of, in sentences without a full stop: keys that are set and
   * unknown, or known and without effect. Each key once, however many servers and clients share the
   * configuration or have a copy of it.
   */
  takeWarnings(): string[] {
    const warnings: string[] = [];
    for (const name of this.entries.keys()) {
      const warning = this.warned.has(name) ? undefined : warningOf(name);
      if (warning === undefined) continue;
      this.warned.add(name);
      warnings.push(warning);
    }
    return warnings;
  }

  private unsetValue<K extends KeyName>(key: K): SourcedValue<KeyValue<K>> {
    const { fallback, defaultText, parse } = definitionOf(key);
    if (fallback !== undefined && isKeyName(fallback.key)) {
      const other = this.get(fallback.key);
      const value = typeof other === 'number' ? other * fallback.factor : other;
      this.logOnce(key, `${value} (fallback to ${fallback.key})`);
      return { value: value as KeyValue<K>, source: 'fallback', fallbackKey: fallback.key };
    }
    this.logOnce(key, `${defaultText ?? 'none'} (default)`);
    // Only optional keys have neither a fallback nor a default: their value type has undefined.
    const value = defaultText === undefined ? undefined : parse(defaultText, key);
    return { value: value as KeyValue<K>, source: 'default' };
  }

  private logOnce(key: string, shown: string): void {
    const level = CLIENT_KEY.test(key) ? 'debug' : 'info';
    if (!this.logger.isEnabled(level) || this.logged.get(key) === shown) return;
    this.logged.set(key, shown);
    this.logger.log(level, `${key} = ${shown}`);
  }

  private log(level: LogLevel, message: string): void {
    if (this.logger.isEnabled(level)) this.logger.log(level, message);
  }
}
