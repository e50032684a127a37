const FIRST_BYTES = 1_024;

/** A set of sequence numbers, one bit each. */
export class SequenceSet {
  #bits: Uint8Array;
  #count = 0;
  #highest = -1;

  constructor(bits: Uint8Array = new Uint8Array(FIRST_BYTES)) {
    this.#bits = Uint8Array.from(bits);
    for (let at = 0; at < bits.length * 8; at++) {
      if (!this.has(at)) continue;
      this.#count++;
      this.#highest = at;
    }
  }

  get count(): number {
    return this.#count;
  }

  /** -1 when the set is empty. */
  get highest(): number {
    return this.#highest;
  }

  has(sequence: number): boolean {
    return ((this.#bits[sequence >>> 3] ?? 0) & (1 << (sequence & 7))) !== 0;
  }

  /** Returns false when it was there already. */
  add(sequence: number): boolean {
    if (this.has(sequence)) return false;
    const at = sequence >>> 3;
    if (at >= this.#bits.length) {
      const grown = new Uint8Array(2 * Math.max(at + 1, FIRST_BYTES));
      grown.set(this.#bits);
      this.#bits = grown;
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (sequence & 7));
    this.#count++;
    if (sequence > this.#highest) this.#highest = sequence;
    return true;
  }

  /** What this set has and `other` has not. */
  *missingIn(other: SequenceSet): Generator<number> {
    for (let sequence = 0; sequence <= this.#highest; sequence++) {
      if (this.has(sequence) && !other.has(sequence)) yield sequence;
    }
  }

  /** The bits up to the highest number, for the constructor. */
  toBytes(): Uint8Array {
    return this.#bits.slice(0, (this.#highest >>> 3) + 1);
  }
}
