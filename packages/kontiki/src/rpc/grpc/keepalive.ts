import type { ClientHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { Timer, Timers } from '../../common/runtime.js';
import type { TransportLimits } from '../transport.js';

/** The input is looked at so many times in one keepalive time. */
const CHECKS_PER_PERIOD = 4;

/** Pings a silent peer while streams are open, and reports it when it does not answer. Only input counts as a sign of life. */
export class Keepalive {
  readonly #http2: ClientHttp2Session;
  readonly #socket: Socket;
  readonly #limits: TransportLimits;
  readonly #timers: Timers;
  readonly #onTimeout: (reason: string) => void;
  #timer: Timer | undefined;
  #lastBytesRead = 0;
  #silentChecks = 0;

  constructor(
    http2: ClientHttp2Session,
    socket: Socket,
    limits: TransportLimits,
    timers: Timers,
    onTimeout: (reason: string) => void,
  ) {
    this.#http2 = http2;
    this.#socket = socket;
    this.#limits = limits;
    this.#timers = timers;
    this.#onTimeout = onTimeout;
  }

  start(): void {
    if (this.#timer !== undefined) return;
    this.#lastBytesRead = this.#socket.bytesRead;
    this.#silentChecks = 0;
    this.#arm(this.#limits.keepaliveTimeMs / CHECKS_PER_PERIOD, () => this.#check());
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
      this.#arm(this.#limits.keepaliveTimeMs / CHECKS_PER_PERIOD, () => this.#check());
      return;
    }
    this.#silentChecks = 0;
    this.#ping();
  }

  #ping(): void {
    if (this.#http2.destroyed) return;
    this.#http2.ping(() => undefined);
    this.#arm(this.#limits.keepaliveTimeoutMs, () => {
      this.#timer = undefined;
      if (this.#sawInput()) this.start();
      else this.#onTimeout(`no answer to a ping within ${this.#limits.keepaliveTimeoutMs} ms`);
    });
  }

  #sawInput(): boolean {
    const bytesRead = this.#socket.bytesRead;
    const changed = bytesRead !== this.#lastBytesRead;
    this.#lastBytesRead = bytesRead;
    return changed;
  }
}
