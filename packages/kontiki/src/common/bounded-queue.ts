import { InvalidArgumentError } from './errors.js';

const INITIAL_SLOTS = 16;

/**
 * First in, first out, with a limit on the count of elements. The ring grows up to the limit, so a
 * large limit costs nothing until it is used.
 */
export class BoundedQueue<T> {
  readonly limit: number;
  private slots: (T | undefined)[];
  private head = 0;
  private count = 0;

  /** Throws InvalidArgumentError unless the limit is a whole number above 0. */
  constructor(limit: number) {
    if (!Number.isSafeInteger(limit) || limit <= 0) {
      throw new InvalidArgumentError(`limit of a queue = ${limit} is not a whole number above 0`);
    }
    this.limit = limit;
    this.slots = new Array<T | undefined>(Math.min(limit, INITIAL_SLOTS)).fill(undefined);
  }

  get size(): number {
    return this.count;
  }

  get isEmpty(): boolean {
    return this.count === 0;
  }

  get isFull(): boolean {
    return this.count === this.limit;
  }

  /** Adds at the end; false when the queue is full, and then nothing changed. */
  offer(element: T): boolean {
    if (this.isFull) return false;
    if (this.count === this.slots.length) this.grow();
    this.slots[(this.head + this.count) % this.slots.length] = element;
    this.count++;
    return true;
  }

  /** Takes the first element; undefined when there is none. */
  poll(): T | undefined {
    if (this.count === 0) return undefined;
    const element = this.slots[this.head];
    this.slots[this.head] = undefined;
    this.head = (this.head + 1) % this.slots.length;
    this.count--;
    return element;
  }

  /** The first element, which stays. */
  peek(): T | undefined {
    return this.at(0);
  }

  /** The element at a position from the front; undefined beyond the end. */
  at(position: number): T | undefined {
    if (position < 0 || position >= this.count) return undefined;
    return this.slots[(this.head + position) % this.slots.length];
  }

  /** Takes all elements, first to last. */
  drain(): T[] {
    const all: T[] = [];
    for (let i = 0; i < this.count; i++) all.push(this.at(i) as T);
    this.clear();
    return all;
  }

  clear(): void {
    this.slots.fill(undefined);
    this.head = 0;
    this.count = 0;
  }

  private grow(): void {
    const grown = new Array<T | undefined>(Math.min(this.limit, this.slots.length * 2));
    grown.fill(undefined);
    for (let i = 0; i < this.count; i++) grown[i] = this.at(i);
    this.slots = grown;
    this.head = 0;
  }
}
