import { InvalidRecordError } from './errors.js';
import type { AppliedWrites } from './recording-machine.js';
import { SequenceSet } from './sequence-set.js';

/** What one server has applied of one writer. */
export interface WriterState {
  readonly applied: SequenceSet;
  readonly duplicates: number;
  readonly disorders: number;
}

/** What one server has applied. */
export interface MachineState {
  readonly writes: number;
  /** Equal when the same writes were applied in the same order. */
  readonly digest: string;
  readonly writers: ReadonlyMap<number, WriterState>;
}

interface EncodedWriter {
  readonly writer: number;
  readonly bits: string;
  readonly duplicates: number;
  readonly disorders: number;
}

interface EncodedState {
  readonly writes: number;
  readonly digest: string;
  readonly writers: readonly EncodedWriter[];
}

export function encodeState(
  writes: number,
  digest: number,
  writers: ReadonlyMap<number, AppliedWrites>,
): Uint8Array {
  const state: EncodedState = {
    writes,
    digest: digest.toString(16).padStart(8, '0'),
    writers: [...writers].map(([writer, { applied, duplicates, disorders }]) => ({
      writer,
      bits: Buffer.from(applied.toBytes()).toString('base64'),
      duplicates,
      disorders,
    })),
  };
  return new TextEncoder().encode(JSON.stringify(state));
}

/** The answer of a machine. Throws InvalidRecordError when there is none. */
export function decodeState(bytes: Uint8Array | undefined): MachineState {
  if (bytes === undefined) throw new InvalidRecordError('the machine gave no state');
  const state = JSON.parse(new TextDecoder().decode(bytes)) as EncodedState;
  return {
    writes: state.writes,
    digest: state.digest,
    writers: new Map(
      state.writers.map(({ writer, bits, duplicates, disorders }) => [
        writer,
        { applied: new SequenceSet(Buffer.from(bits, 'base64')), duplicates, disorders },
      ]),
    ),
  };
}
