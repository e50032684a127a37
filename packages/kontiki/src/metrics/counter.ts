/** A count that goes up, and seldom down. */
export class Counter {
  private total = 0;

  get value(): number {
    return this.total;
  }

  increment(by = 1): void {
    this.total += by;
  }

  decrement(by = 1): void {
    this.total -= by;
  }
}
