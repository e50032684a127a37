import { KontikiError, toError } from '../common/errors.js';
import type { RaftProperties } from './raft-properties.js';

/** One key whose text differs between two configurations; undefined stands for the default. */
export interface PropertyChange {
  readonly name: string;
  readonly newValue: string | undefined;
  readonly oldValue: string | undefined;
}

/** `name from "old" to "new"` (spec: config 11). */
export function changeText({ name, newValue, oldValue }: PropertyChange): string {
  return `${name} from "${oldValue ?? '<default>'}" to "${newValue ?? '<default>'}"`;
}

/** A change of one property was not carried out (spec: config 11). */
export class ReconfigurationException extends KontikiError {
  readonly code = 'KONTIKI_RECONFIGURATION';
  readonly change: PropertyChange;

  constructor(change: PropertyChange, reason: string, options?: { cause?: unknown }) {
    super(`Failed to change property ${changeText(change)}: ${reason}`, options);
    this.change = change;
  }
}

/** What an application implements to take changes while it runs. */
export interface Reconfigurable {
  readonly properties: RaftProperties;
  isPropertyReconfigurable(name: string): boolean;
  /**
   * Takes a new value, undefined for the default, and returns the one in force; undefined unsets
   * the key. Throws when it cannot.
   */
  reconfigureProperty(name: string, newValue: string | undefined): string | undefined;
}

/** A change and why it failed; without an error it was applied. */
export interface ChangeResult {
  readonly change: PropertyChange;
  readonly error: Error | undefined;
}

/** What differs: keys of the old set by raw text, then keys that are only in the new set. */
export function computeChanges(current: RaftProperties, next: RaftProperties): PropertyChange[] {
  const changes: PropertyChange[] = [];
  for (const [name, oldValue] of current.rawEntries()) {
    const newValue = next.getRaw(name);
    if (newValue !== oldValue) changes.push({ name, newValue, oldValue });
  }
  for (const [name, newValue] of next.rawEntries()) {
    if (current.getExpanded(name) === undefined) {
      changes.push({ name, newValue, oldValue: undefined });
    }
  }
  return changes;
}

function applyChange(target: Reconfigurable, change: PropertyChange): void {
  const { name, newValue } = change;
  if (!target.isPropertyReconfigurable(name)) {
    throw new ReconfigurationException(change, 'Property is not reconfigurable.');
  }
  const effective = target.reconfigureProperty(name, newValue);
  if (effective === undefined) target.properties.unset(name);
  else target.properties.setRaw(name, effective);
}

/**
 * Applies every difference to `target`, whatever fails, and tells each result (spec: config 11).
 */
export function reconfigure(target: Reconfigurable, next: RaftProperties): ChangeResult[] {
  return computeChanges(target.properties, next).map((change) => {
    try {
      applyChange(target, change);
      return { change, error: undefined };
    } catch (error) {
      return { change, error: toError(error) };
    }
  });
}
