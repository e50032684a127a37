import { mix } from './records.js';

/** Random choices that a seed repeats. */
export class SeededRandom {
  readonly #seed: number;
  #drawn = 0;

  constructor(seed: number) {
    this.#seed = seed >>> 0;
  }

  /** At least 0, less than 1. */
  fraction(): number {
    return mix(this.#seed, this.#drawn++) / 0x1_0000_0000;
  }

  between(min: number, max: number): number {
    return min + this.fraction() * (max - min);
  }

  /** The same elements in another order. */
  shuffle<T>(elements: readonly T[]): T[] {
    return elements
      .map((element) => ({ element, order: this.fraction() }))
      .sort((a, b) => a.order - b.order)
      .map(({ element }) => element);
  }

  /** One of them, or undefined when there are none. */
  pick<T>(elements: readonly T[]): T | undefined {
    return elements[Math.floor(this.fraction() * elements.length)];
  }
}
