import { InvalidArgumentError } from '../common/errors.js';

/** Where references in a value are looked up, besides the properties themselves. */
export interface Lookups {
  /** Value of an environment variable, or undefined when it is not set. */
  environmentVariable(name: string): string | undefined;
  /** A setting of the whole process, Java's system property, or undefined. */
  processProperty(name: string): string | undefined;
}

/** Finds nothing. */
export const NO_LOOKUPS: Lookups = {
  environmentVariable: () => undefined,
  processProperty: () => undefined,
};

const REFERENCE = /\$\{([^}$ ]+)\}/;
const MAX_REPLACEMENTS = 20;
const ENVIRONMENT_PREFIX = 'env.';

function resolveEnvironment(reference: string, lookups: Lookups): string | undefined {
  const match = /^(.*?)(:-|-)(.*)$/s.exec(reference);
  if (match === null) return lookups.environmentVariable(reference);
  const [, name = '', operator, fallback] = match;
  const value = lookups.environmentVariable(name);
  const isAbsent = value === undefined || (operator === ':-' && value === '');
  return isAbsent ? fallback : value;
}

function resolve(
  name: string,
  rawValue: (key: string) => string | undefined,
  lookups: Lookups,
): string | undefined {
  const isEnvironment = name.startsWith(ENVIRONMENT_PREFIX) && name !== ENVIRONMENT_PREFIX;
  const value = isEnvironment
    ? resolveEnvironment(name.slice(ENVIRONMENT_PREFIX.length), lookups)
    : lookups.processProperty(name);
  return value ?? rawValue(name);
}

/**
 * Replaces `${name}` references, left-most first (spec: config 3). A reference that resolves to
 * nothing ends the expansion and stays; one that comes up twice gives the original text back.
 * Throws InvalidArgumentError beyond 20 replacements.
 */
export function expandVariables(
  text: string,
  rawValue: (key: string) => string | undefined,
  lookups: Lookups,
): string {
  const replaced = new Set<string>();
  let expanded = text;
  for (;;) {
    const match = REFERENCE.exec(expanded);
    if (match === null) return expanded;
    const [reference, name = ''] = match;
    const value = resolve(name, rawValue, lookups);
    if (value === undefined) return expanded;
    if (replaced.has(reference)) return text;
    if (replaced.size === MAX_REPLACEMENTS) {
      throw new InvalidArgumentError(
        `Variable substitution depth too large: ${MAX_REPLACEMENTS} ${text}`,
      );
    }
    replaced.add(reference);
    const end = match.index + reference.length;
    expanded = expanded.slice(0, match.index) + value + expanded.slice(end);
  }
}
