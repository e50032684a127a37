/** A queue over a ring that grows by doubling, with access by position from its head. */
export class Deque<T> {
  #ring: (T | undefined)[] = new Array(16);
  #head = 0;
  #length = 0;

  get length(): number {
    return this.#length;
  }

  push(item: T): void {
    if (this.#length === this.#ring.length) this.#grow();
    this.#ring[(this.#head + this.#length) & (this.#ring.length - 1)] = item;
    this.#length++;
  }

  shift(): T | undefined {
    if (this.#length === 0) return undefined;
    const item = this.#ring[this.#head];
    this.#ring[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#ring.length - 1);
    this.#length--;
    return item;
  }

  /** The item at `position` from the head, or undefined beyond the end. */
  at(position: number): T | undefined {
    if (position < 0 || position >= this.#length) return undefined;
    return this.#ring[(this.#head + position) & (this.#ring.length - 1)];
  }

  /** Removes and returns everything from `position` on, in order. */
  takeFrom(position: number): T[] {
    const taken: T[] = [];
    for (let i = position; i < this.#length; i++) {
      const slot = (this.#head + i) & (this.#ring.length - 1);
      taken.push(this.#ring[slot] as T);
      this.#ring[slot] = undefined;
    }
    this.#length = Math.min(this.#length, position);
    return taken;
  }

  /** Removes the item at `position`. */
  remove(position: number): T | undefined {
    if (position === 0) return this.shift();
    const [item, ...rest] = this.takeFrom(position);
    for (const later of rest) this.push(later);
    return item;
  }

  #grow(): void {
    const items = new Array<T | undefined>(this.#ring.length * 2);
    for (let i = 0; i < this.#length; i++) items[i] = this.at(i);
    this.#ring = items;
    this.#head = 0;
  }
}
