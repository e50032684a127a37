import type { RaftClient } from '../../client/index.js';
import { decodeCounterValue, INCREMENT } from '../../examples/counter/index.js';
import { CliError } from '../cli-error.js';

/**
 * Increments a counter in order, with some requests in flight, until it is stopped. It is the only
 * writer, so the n-th increment must be answered with n: anything else means that a write was lost
 * or applied twice.
 */
export class CounterLoad {
  readonly #client: RaftClient;
  readonly #inFlight: number;
  #sent = 0;
  #acknowledged = 0;
  #isStopping = false;
  #running: Promise<void> | undefined;
  /** Told of every answer, and who gave it. */
  onAcknowledged: (serverId: string) => void = () => undefined;

  constructor(client: RaftClient, inFlight: number) {
    this.#client = client;
    this.#inFlight = inFlight;
  }

  get acknowledged(): number {
    return this.#acknowledged;
  }

  start(): void {
    const lanes = Array.from({ length: this.#inFlight }, () => this.#lane());
    this.#running = Promise.all(lanes).then(() => undefined);
    this.#running.catch(() => undefined);
  }

  /**
   * Sends no more; resolves when everything is answered. Rejects with the first thing that went
   * wrong.
   */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#running;
  }

  /** Rejects with the first thing that goes wrong; else it never settles before `stop`. */
  get failed(): Promise<void> {
    return this.#running ?? Promise.resolve();
  }

  async #lane(): Promise<void> {
    while (!this.#isStopping) {
      const expected = ++this.#sent;
      const reply = await this.#client.async().send(INCREMENT);
      const value = decodeCounterValue(reply.message);
      if (value !== expected) {
        throw new CliError(`increment ${expected} was answered with ${value}`);
      }
      this.#acknowledged++;
      this.onAcknowledged(reply.serverId);
    }
  }
}
