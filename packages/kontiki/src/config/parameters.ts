import { ConfigurationError } from './errors.js';

/** Objects of the configuration that are no text, such as TLS settings (spec: config 1, 10). */
export class Parameters {
  private readonly objects = new Map<string, object>();

  /** Stores an object and returns the one that was there. */
  put(key: string, value: object): object | undefined {
    const previous = this.objects.get(key);
    this.objects.set(key, value);
    return previous;
  }

  /**
   * The object of a key; undefined when there is none. Throws ConfigurationError when it is no
   * instance of `type`.
   */
  get<T extends object>(key: string, type: abstract new (...args: never[]) => T): T | undefined {
    const value = this.objects.get(key);
    if (value === undefined || value instanceof type) return value;
    throw new ConfigurationError(key, `${key} is not an instance of ${type.name}`);
  }

  /** Like `get`, but throws ConfigurationError when there is none. */
  getNonNull<T extends object>(key: string, type: abstract new (...args: never[]) => T): T {
    const value = this.get(key, type);
    if (value === undefined) throw new ConfigurationError(key, `${key} is not set`);
    return value;
  }
}
