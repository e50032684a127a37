import { crc32 } from 'node:zlib';
import { BaseStateMachine, type TransactionContext } from 'kontiki';

/** What a server answers when it is asked for its state. */
export interface EchoState {
  readonly writes: number;
  /** Sum of the checksums of all values, modulo 2^32. */
  readonly checksum: number;
}

const STATE_BYTES = 12;

/** Counts the values written and adds up their checksums: next to nothing beside the log. */
export default class EchoMachine extends BaseStateMachine {
  #writes = 0;
  #checksum = 0;

  /** Answers the number of the write, 8 bytes. */
  override applyTransaction(context: TransactionContext): Uint8Array {
    this.#writes++;
    this.#checksum = (this.#checksum + checksumOf(context.logData)) >>> 0;
    const answer = new Uint8Array(8);
    new DataView(answer.buffer).setFloat64(0, this.#writes);
    return answer;
  }

  override query(_message: Uint8Array): Uint8Array {
    const answer = new Uint8Array(STATE_BYTES);
    const view = new DataView(answer.buffer);
    view.setFloat64(0, this.#writes);
    view.setUint32(8, this.#checksum);
    return answer;
  }
}

export function checksumOf(value: Uint8Array): number {
  return crc32(value);
}

/** The state in an answer. Throws when it is none. */
export function decodeEchoState(answer: Uint8Array | undefined): EchoState {
  if (answer?.length !== STATE_BYTES) throw new Error('a server gave no state');
  const view = new DataView(answer.buffer, answer.byteOffset, answer.byteLength);
  return { writes: view.getFloat64(0), checksum: view.getUint32(8) };
}
