import { toError } from '../common/errors.js';

interface Waiting {
  ready: boolean;
  error: Error | undefined;
  readonly next: (error: Error | undefined) => void;
}

/**
 * Keeps the writes of one client in order when its state machine starts transactions
 * asynchronously: starts overlap, what comes after them happens in the order of submission.
 */
export class StartOrder {
  readonly #queues = new Map<string, Waiting[]>();

  /** Nothing of this client is waiting. */
  isFree(client: string): boolean {
    return !this.#queues.has(client);
  }

  /**
   * Calls `next` once `started` is settled and everything that was added before has had its turn.
   */
  add(client: string, started: Promise<void>, next: (error: Error | undefined) => void): void {
    const waiting: Waiting = { ready: false, error: undefined, next };
    const queue = this.#queues.get(client);
    if (queue === undefined) this.#queues.set(client, [waiting]);
    else queue.push(waiting);
    const settled = (error: Error | undefined) => {
      waiting.ready = true;
      waiting.error = error;
      this.#release(client);
    };
    started.then(
      () => settled(undefined),
      (error) => settled(toError(error)),
    );
  }

  #release(client: string): void {
    const queue = this.#queues.get(client);
    while (queue?.[0]?.ready) {
      const first = queue.shift();
      if (queue.length === 0) this.#queues.delete(client);
      first?.next(first.error);
    }
  }
}
