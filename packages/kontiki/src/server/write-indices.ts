/**
 * The largest log index of each client's writes, for reads that must see them (spec: consensus
 * 7.4). Told after the append, so a failed one leaves nothing behind (spec: H-13). An index lives
 * for one to two expiry times after its last use.
 */
export class WriteIndices {
  readonly #expiryMs: number;
  #current = new Map<string, number>();
  #previous = new Map<string, number>();
  #rotateAtMs = 0;

  constructor(expiryMs: number) {
    this.#expiryMs = expiryMs;
  }

  update(client: string, index: number, nowMs: number): void {
    this.#rotate(nowMs);
    this.#current.set(client, Math.max(index, this.#current.get(client) ?? -1));
  }

  /** -1 when nothing is known. */
  of(client: string, nowMs: number): number {
    this.#rotate(nowMs);
    const index = Math.max(this.#current.get(client) ?? -1, this.#previous.get(client) ?? -1);
    if (index >= 0) this.#current.set(client, index);
    return index;
  }

  #rotate(nowMs: number): void {
    if (nowMs < this.#rotateAtMs) return;
    this.#previous = nowMs >= this.#rotateAtMs + this.#expiryMs ? new Map() : this.#current;
    this.#current = new Map();
    this.#rotateAtMs = nowMs + this.#expiryMs;
  }
}
