import type { Http2Session } from 'node:http2';
import type { Timer, Timers } from '../../common/runtime.js';

/** Where input is counted. */
export interface InputCounter {
  readonly bytesRead: number;
}

export interface KeepaliveTimes {
  /** Ping after so long without input. */
  readonly keepaliveTimeMs: number;
  /** The peer is lost when a ping is not answered for so long. */
  readonly keepaliveTimeoutMs: number;
}

/** The input is looked at so many times in one keepalive time. */
const CHECKS_PER_PERIOD = 4;

/**
 * Pings a silent peer, and reports it when it does not answer. Only input counts as a sign of life.
 */
export class Keepalive {
  readonly #http2: Http2Session;
  readonly #socket: InputCounter;
  readonly #times: KeepaliveTimes;
  readonly #timers: Timers;
  readonly #onTimeout: (reason: string) => void;
  #timer: Timer | undefined;
  #lastBytesRead = 0;
  #silentChecks = 0;

  constructor(
    http2: Http2Session,
    socket: InputCounter,
    times: KeepaliveTimes,
    timers: Timers,
    onTimeout: (reason: string) => void,
  ) {
    this.#http2 = http2;
    this.#socket = socket;
    this.#times = times;
    this.#timers = timers;
    this.#onTimeout = onTimeout;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#lastBytesRead = this.#socket.bytesRead;
    this.#silentChecks = 0;
    this.#arm(this.#times.keepaliveTimeMs / CHECKS_PER_PERIOD, () => this.#check());
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #arm(delayMs: number, callback: () => void): void {
    this.#timer = this.#timers.schedule(delayMs, callback, true);
  }

  #check(): void {
    if (this.#sawInput()) this.#silentChecks = 0;
    else this.#silentChecks++;
    if (this.#silentChecks < CHECKS_PER_PERIOD) {
      this.#arm(this.#times.keepaliveTimeMs / CHECKS_PER_PERIOD, () => this.#check());
      return;
    }
    this.#silentChecks = 0;
    this.#ping();
  }

  #ping(): void {
    if (this.#http2.destroyed) return;
    this.#http2.ping(() => undefined);
    this.#arm(this.#times.keepaliveTimeoutMs, () => {
      this.#timer = undefined;
      if (this.#sawInput()) this.start();
      else this.#onTimeout(`no answer to a ping within ${this.#times.keepaliveTimeoutMs} ms`);
    });
  }

  #sawInput(): boolean {
    const bytesRead = this.#socket.bytesRead;
    const changed = bytesRead !== this.#lastBytesRead;
    this.#lastBytesRead = bytesRead;
    return changed;
  }
}
