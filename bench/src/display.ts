import type { LoadProgress } from './load.js';

const PLAIN_EVERY_SECONDS = 5;

/** Shows how a load gets on: one line that changes on a terminal, a line now and then elsewhere. */
export class Display {
  readonly #name: string;
  readonly #unit: (perSecond: number) => string;
  readonly #isTerminal = process.stdout.isTTY;
  #lastPlainSeconds = 0;

  /** `unit` words a rate. */
  constructor(name: string, unit: (perSecond: number) => string) {
    this.#name = name;
    this.#unit = unit;
  }

  /** What is going on apart from the load. */
  step(text: string): void {
    this.#clear();
    console.log(`${this.#name}: ${text}`);
  }

  progress({ elapsedSeconds, perSecond, isWarmup }: LoadProgress): void {
    const phase = isWarmup ? 'warming up' : 'measuring';
    const seconds = elapsedSeconds.toFixed(1).padStart(5);
    const text = `${this.#name}: ${seconds} s  ${this.#unit(perSecond).padStart(16)}  ${phase}`;
    if (this.#isTerminal) {
      process.stdout.write(`\r${text}\x1b[K`);
    } else if (elapsedSeconds - this.#lastPlainSeconds >= PLAIN_EVERY_SECONDS) {
      this.#lastPlainSeconds = elapsedSeconds;
      console.log(text);
    }
  }

  /** The load is over. */
  done(): void {
    this.#clear();
  }

  #clear(): void {
    if (this.#isTerminal) process.stdout.write('\r\x1b[K');
  }
}
