import type { StateMachineBody } from '../../proto/wire/types.js';
import { IllegalArgumentException, StateMachineException } from '../../protocol/exceptions.js';
import { BaseStateMachine } from '../../statemachine/base-state-machine.js';
import type { TransactionContext } from '../../statemachine/types.js';
import {
  decodeCounterSnapshot,
  encodeCounterSnapshot,
  encodeCounterValue,
  INCREMENT,
  sameBytes,
} from './messages.js';

function textOf(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}

/**
 * A counter of 32 bits that wraps (spec: examples 3). Its messages and snapshots are those of the
 * Java example.
 */
export class CounterStateMachine extends BaseStateMachine {
  #value = 0;

  get value(): number {
    return this.#value;
  }

  /** Refuses every message but INCREMENT, compared byte by byte. */
  override startTransaction(context: TransactionContext): void {
    if (!sameBytes(context.logData, INCREMENT)) {
      context.exception = new IllegalArgumentException(
        `Invalid Command: ${textOf(context.logData)}`,
      );
    }
  }

  override applyTransaction(context: TransactionContext): Uint8Array {
    if (!sameBytes(context.logData, INCREMENT)) {
      throw new StateMachineException(
        undefined,
        'java.lang.IllegalArgumentException',
        `Invalid Command: ${textOf(context.logData)}`,
      );
    }
    this.#value = (this.#value + 1) | 0;
    return encodeCounterValue(this.#value);
  }

  /** Answers GET, in capitals or not. */
  override query(message: Uint8Array): Uint8Array {
    const command = textOf(message);
    if (command.toUpperCase() !== 'GET') {
      throw new IllegalArgumentException(`Invalid Command: ${command}`);
    }
    return encodeCounterValue(this.#value);
  }

  override takeSnapshot(): Promise<number> {
    return this.saveSnapshot(encodeCounterSnapshot(this.#value));
  }

  override restore(content: Uint8Array): void {
    this.#value = decodeCounterSnapshot(content);
  }

  override toStateMachineLogEntryString(body: StateMachineBody): string {
    return textOf(body.logData);
  }
}
