const NONE: readonly number[] = Object.freeze([]);

/**
 * Call ids of requests that were answered and that no later request has told the servers of yet, so
 * that these can drop their retry cache entries early (spec: client 3.2). Whoever takes the set
 * keeps it with its request and sends it again on each retry.
 */
export class RepliedCallIds {
  #replied: number[] = [];

  add(callId: number): void {
    this.#replied.push(callId);
  }

  /** The whole set, ascending; it is empty afterwards. */
  take(): readonly number[] {
    if (this.#replied.length === 0) return NONE;
    const taken = this.#replied;
    this.#replied = [];
    if (taken.length > 1) taken.sort((a, b) => a - b);
    return taken;
  }
}
