import type { TransactionContext } from '../../statemachine/index.js';
import { BaseStateMachine } from '../../statemachine/index.js';
import { InvalidRecordError } from './errors.js';
import { encodeState } from './machine-state.js';
import { decodeRecord, encodeAnswer, mix } from './records.js';
import { SequenceSet } from './sequence-set.js';

/** What was applied of one writer. */
export interface AppliedWrites {
  readonly applied: SequenceSet;
  /** Applications of something that was applied before. */
  duplicates: number;
  /** Applications of something older than what was applied before. */
  disorders: number;
  last: number;
}

/**
 * Notes which writes were applied, how often and in which order. It keeps no snapshot: after a
 * restart, all it knows is what the log holds.
 */
export default class RecordingMachine extends BaseStateMachine {
  readonly #writers = new Map<number, AppliedWrites>();
  #writes = 0;
  /** Depends on every write and its place. */
  #digest = 0;

  override applyTransaction(context: TransactionContext): Uint8Array {
    const record = decodeRecord(context.body?.logData ?? context.logData);
    // Whatever was taken in whole must come out whole.
    if (record === undefined) throw new InvalidRecordError('a write was damaged on its way');
    let writes = this.#writers.get(record.writer);
    if (writes === undefined) {
      writes = { applied: new SequenceSet(), duplicates: 0, disorders: 0, last: -1 };
      this.#writers.set(record.writer, writes);
    }
    if (!writes.applied.add(record.sequence)) writes.duplicates++;
    if (record.sequence < writes.last) writes.disorders++;
    writes.last = record.sequence;
    this.#writes++;
    this.#digest = mix(this.#digest, mix(record.writer, record.sequence));
    return encodeAnswer(record);
  }

  /** Everything that is known, whatever is asked; see `decodeState`. */
  override query(_message: Uint8Array): Uint8Array {
    return encodeState(this.#writes, this.#digest, this.#writers);
  }
}
