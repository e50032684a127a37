import type { TermIndex } from '../protocol/term-index.js';
import { BaseStateMachine } from '../statemachine/index.js';
import type { TransactionContext } from '../statemachine/types.js';

/**
 * A state machine for tests: keeps the texts that were written, in order, and answers with their
 * number.
 */
export class RecordingStateMachine extends BaseStateMachine {
  /** What was applied, oldest first. */
  readonly applied: string[] = [];
  readonly positions: TermIndex[] = [];

  override applyTransaction(
    context: TransactionContext,
  ): Promise<Uint8Array | undefined> | Uint8Array | undefined {
    this.applied.push(text(context.logData));
    const entry = context.logEntry;
    if (entry !== undefined) this.positions.push({ term: entry.term, index: entry.index });
    return bytes(String(this.applied.length));
  }

  override query(message: Uint8Array): Promise<Uint8Array> | Uint8Array {
    const asked = text(message);
    return bytes(asked === 'count' ? String(this.applied.length) : this.applied.join(','));
  }
}

export function bytes(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

export function text(value: Uint8Array | undefined): string {
  return value === undefined ? '' : new TextDecoder().decode(value);
}
