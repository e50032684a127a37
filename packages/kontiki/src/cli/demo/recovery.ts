/** Measures the time from a kill to the first answer of another server. */
export class Recovery {
  #victim: string | undefined;
  #killedAtMs = 0;
  #elapsedMs: number | undefined;

  killed(serverId: string): void {
    this.#victim = serverId;
    this.#killedAtMs = performance.now();
  }

  /** A write was acknowledged. Answers that the victim sent before it died do not count. */
  acknowledged(serverId: string): void {
    if (this.#victim === undefined || this.#elapsedMs !== undefined) return;
    if (serverId !== this.#victim) this.#elapsedMs = performance.now() - this.#killedAtMs;
  }

  /** Undefined before the first answer. */
  get elapsedMs(): number | undefined {
    return this.#elapsedMs;
  }
}
