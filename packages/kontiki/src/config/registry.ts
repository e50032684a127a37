import { editDistance } from '../common/edit-distance.js';
import type { DefinedValue, KeyDefinition } from './key-definition.js';
import { CLIENT_KEYS } from './keys/client-keys.js';
import { COMMON_KEYS } from './keys/common-keys.js';
import { DATA_STREAM_KEYS } from './keys/data-stream-keys.js';
import { EXAMPLE_KEYS } from './keys/example-keys.js';
import { GRPC_KEYS } from './keys/grpc-keys.js';
import { PARAMETER_KEYS } from './keys/parameter-keys.js';
import { SERVER_KEYS } from './keys/server-keys.js';
import { SERVER_LOG_KEYS } from './keys/server-log-keys.js';

/** Every configuration key with its definition. */
export const KEYS = {
  ...COMMON_KEYS,
  ...CLIENT_KEYS,
  ...SERVER_KEYS,
  ...SERVER_LOG_KEYS,
  ...GRPC_KEYS,
  ...DATA_STREAM_KEYS,
  ...EXAMPLE_KEYS,
};

/** Name of a configuration key. */
export type KeyName = keyof typeof KEYS;

/** Type of a key's value in programs: durations are milliseconds, sizes bytes. */
export type KeyValue<K extends KeyName> = DefinedValue<(typeof KEYS)[K]>;

/** Configuration by key, as values or as the text that a file would hold. */
export type RaftOptions = { readonly [K in KeyName]?: KeyValue<K> | string };

/** Names of all keys, in the order of the tables. */
export const KEY_NAMES = Object.keys(KEYS) as readonly KeyName[];

export function isKeyName(name: string): name is KeyName {
  return Object.hasOwn(KEYS, name);
}

/** The definition of a key. */
export function definitionOf<K extends KeyName>(key: K): KeyDefinition<KeyValue<K>> {
  // Each entry is a KeyDefinition of its own value type; TypeScript cannot index by a free K.
  return KEYS[key] as unknown as KeyDefinition<KeyValue<K>>;
}

/** The known key that looks most like `name`, or undefined when none looks alike. */
export function nearestKey(name: string): string | undefined {
  let nearest: string | undefined;
  let smallest = Math.max(2, Math.floor(name.length / 4)) + 1;
  for (const key of [...KEY_NAMES, ...Object.keys(PARAMETER_KEYS)]) {
    const distance = editDistance(name.toLowerCase(), key.toLowerCase());
    if (distance < smallest) {
      smallest = distance;
      nearest = key;
    }
  }
  return nearest;
}
