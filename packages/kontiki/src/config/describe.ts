import type { KeyType } from './key-definition.js';
import { UNUSED_KEYS } from './keys/unused-keys.js';
import type { RaftProperties, ValueSource } from './raft-properties.js';
import { definitionOf, KEY_NAMES, type KeyName } from './registry.js';

/** One key as an operator wants to see it. */
export interface KeyDescription {
  readonly key: KeyName;
  readonly component: string;
  readonly type: KeyType;
  /** Text of the value in force; undefined when there is none. */
  readonly value: string | undefined;
  readonly source: ValueSource;
  /** The key that gave the value, when source is fallback. */
  readonly fallbackKey: string | undefined;
  readonly defaultText: string | undefined;
  readonly range: string;
  readonly meaning: string;
  /** Why the key has no effect, if it has none. */
  readonly unusedReason: string | undefined;
}

function valueText(properties: RaftProperties, key: KeyName): string | undefined {
  const { type, defaultText } = definitionOf(key);
  const { value, source } = properties.getWithSource(key);
  if (value === undefined || source === 'default') return defaultText;
  if (typeof value !== 'number') return String(value);
  const text = source === 'set' ? properties.getExpanded(key)?.trim() : undefined;
  return text ?? (type === 'duration' ? `${value}ms` : String(value));
}

function describeKey(properties: RaftProperties, key: KeyName): KeyDescription {
  const { component, type, defaultText, range, meaning } = definitionOf(key);
  const { source, fallbackKey } = properties.getWithSource(key);
  return {
    key,
    component,
    type,
    value: valueText(properties, key),
    source,
    fallbackKey,
    defaultText,
    range,
    meaning,
    unusedReason: UNUSED_KEYS.get(key),
  };
}

/** Every key with its value, where that came from, and what it means. Throws ConfigurationError. */
export function describeConfiguration(properties: RaftProperties): KeyDescription[] {
  return KEY_NAMES.map((key) => describeKey(properties, key));
}
