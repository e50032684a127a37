import { KontikiError } from '../common/errors.js';

/** A configuration value, or a combination of values, is not acceptable (spec: config 7). */
export class ConfigurationError extends KontikiError {
  readonly code = 'KONTIKI_CONFIG_INVALID';
  /** The key at fault; of a combination, the first one that the message names. */
  readonly key: string;

  constructor(key: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.key = key;
  }
}
