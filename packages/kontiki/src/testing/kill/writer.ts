import type { RaftClient } from '../../client/index.js';
import { messageOf } from '../../common/errors.js';
import { encodeRecord, isAnswerTo } from './records.js';
import { SequenceSet } from './sequence-set.js';

export type WriterKind = 'ordered' | 'unordered';

export interface WriterOptions {
  readonly writer: number;
  readonly kind: WriterKind;
  readonly inFlight: number;
  readonly client: RaftClient;
  /** Called at every acknowledgement. */
  readonly onAcknowledged: () => void;
}

/**
 * Writes unique values through a client, a number of them at once, and notes what was acknowledged.
 */
export class Writer {
  readonly writer: number;
  readonly kind: WriterKind;
  readonly acknowledged = new SequenceSet();
  /** What went wrong though a client that goes on for ever must not fail; the first few. */
  readonly complaints: string[] = [];
  readonly #options: WriterOptions;
  #next = 0;
  #stopped = false;
  #finished: Promise<unknown> = Promise.resolve();

  constructor(options: WriterOptions) {
    this.#options = options;
    this.writer = options.writer;
    this.kind = options.kind;
  }

  /** How many writes have no answer. */
  get unanswered(): number {
    return this.#next - this.acknowledged.count;
  }

  start(): void {
    const lanes = Array.from({ length: this.#options.inFlight }, () => this.#lane());
    this.#finished = Promise.all(lanes);
  }

  /** Starts no more writes; resolves when all are answered. */
  async stop(): Promise<void> {
    this.#stopped = true;
    await this.#finished;
  }

  async #lane(): Promise<void> {
    while (!this.#stopped) await this.#write(this.#next++);
  }

  async #write(sequence: number): Promise<void> {
    const { client, onAcknowledged } = this.#options;
    const record = { writer: this.writer, sequence };
    try {
      const message = encodeRecord(record);
      const reply = await (this.kind === 'ordered'
        ? client.async().send(message)
        : client.io().send(message));
      if (!isAnswerTo(reply.message, record)) this.#complain(sequence, 'has the answer of another');
      this.acknowledged.add(sequence);
      onAcknowledged();
    } catch (error) {
      this.#complain(sequence, `was refused: ${messageOf(error)}`);
      this.#stopped = true;
    }
  }

  #complain(sequence: number, text: string): void {
    const name = `${this.kind} writer ${this.writer}`;
    if (this.complaints.length < 5) this.complaints.push(`${name}: write ${sequence} ${text}`);
  }
}
