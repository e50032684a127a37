import type { ConsoleIo, OutputStream } from '../console-io.js';

const REFRESH_MS = 100;
const PLAIN_REFRESH_MS = 1_000;
const DEFAULT_COLUMNS = 80;

/** Shows what happens: on a terminal a line that changes below the steps, else plain lines. */
export class Display {
  readonly #out: OutputStream;
  readonly #status: () => string;
  readonly #startedMs = performance.now();
  readonly #isLive: boolean;
  #timer: NodeJS.Timeout | undefined;
  #lastPlain = '';

  /** `status` gives the line that changes; empty when there is nothing to tell. */
  constructor(io: ConsoleIo, status: () => string) {
    this.#out = io.out;
    this.#status = status;
    this.#isLive = io.out.isTTY === true;
  }

  start(): void {
    const refreshMs = this.#isLive ? REFRESH_MS : PLAIN_REFRESH_MS;
    this.#timer = setInterval(() => this.#refresh(), refreshMs);
  }

  stop(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
    this.#clear();
  }

  /** A line that stays. */
  step(text: string): void {
    this.#clear();
    const seconds = ((performance.now() - this.#startedMs) / 1000).toFixed(1).padStart(5);
    this.#out.write(`${seconds} s  ${text}\n`);
  }

  /** Text as it is. */
  print(text: string): void {
    this.#clear();
    this.#out.write(`${text}\n`);
  }

  #refresh(): void {
    const status = this.#status();
    if (status === '') return;
    if (!this.#isLive) {
      if (status !== this.#lastPlain) this.step(status);
      this.#lastPlain = status;
      return;
    }
    const columns = this.#out.columns ?? DEFAULT_COLUMNS;
    this.#out.write(`\r\x1b[2K${`         ${status}`.slice(0, columns - 1)}`);
  }

  #clear(): void {
    if (this.#isLive) this.#out.write('\r\x1b[2K');
  }
}

/** A bar of `width` characters. */
export function bar(fraction: number, width: number): string {
  const full = Math.round(Math.min(1, Math.max(0, fraction)) * width);
  return '#'.repeat(full) + '.'.repeat(width - full);
}
