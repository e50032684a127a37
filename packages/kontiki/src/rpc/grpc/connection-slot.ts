import type { SecureContext } from 'node:tls';
import { type Random, randomInteger } from '../../common/runtime.js';
import { type ChannelState, StatusCode } from '../transport.js';
import type { GrpcClientStream } from './client-stream.js';
import { ConnectionError } from './errors.js';
import { ClientSession, type SessionOptions } from './session.js';
import { localStatus } from './status.js';

/** Growth of the pause from one failed attempt to the next, and its random part. */
const BACKOFF_FACTOR = 1.6;
const BACKOFF_JITTER_PERCENT = 20;

/**
 * One connection of a channel and its replacement: idle → connecting → ready → idle, and connecting
 * → backoff → idle after a failed attempt. A connection that was ready and is lost costs no pause;
 * while in back-off, streams fail at once with the last error.
 */
export class ConnectionSlot {
  readonly #options: Omit<SessionOptions, 'secureContext'>;
  readonly #secureContext: () => SecureContext | undefined;
  #current: ClientSession | undefined;
  readonly #sessions = new Set<ClientSession>();
  #waiting: GrpcClientStream[] = [];
  #failures = 0;
  #backoffUntilMs = Number.NEGATIVE_INFINITY;
  #lastError: ConnectionError | undefined;
  #closed = false;
  #onEmpty: (() => void) | undefined;

  constructor(
    options: Omit<SessionOptions, 'secureContext'>,
    secureContext: () => SecureContext | undefined,
  ) {
    this.#options = options;
    this.#secureContext = secureContext;
  }

  get state(): ChannelState {
    if (this.#closed) return 'closed';
    if (this.#current?.state === 'ready') return 'ready';
    if (this.#current?.state === 'connecting') return 'connecting';
    return this.#options.runtime.clock.nowMs() < this.#backoffUntilMs ? 'backoff' : 'idle';
  }

  /** Gives `stream` a session, now or when it is there; or fails it, in a fresh turn. */
  start(stream: GrpcClientStream): void {
    const state = this.state;
    if (state === 'closed' || state === 'backoff') {
      this.#failLater(stream, state);
      return;
    }
    if (state === 'ready' && this.#tryOpen(stream)) return;
    this.#waiting.push(stream);
    if (this.#current === undefined || this.#current.state !== 'connecting') this.#connect();
  }

  resetBackoff(): void {
    this.#failures = 0;
    this.#backoffUntilMs = Number.NEGATIVE_INFINITY;
  }

  /**
   * Lets open streams finish; `onEmpty` is called when no connection is left. Streams that wait for
   * a connection still get theirs.
   */
  close(onEmpty: () => void): void {
    this.#closed = true;
    this.#onEmpty = onEmpty;
    if (this.#waiting.length === 0) {
      for (const session of this.#sessions) session.close();
    }
    this.#reportEmpty();
  }

  /** Cuts what is still open. */
  destroy(): void {
    this.#closed = true;
    for (const session of this.#sessions) session.destroy('channel closed');
  }

  #tryOpen(stream: GrpcClientStream): boolean {
    const session = this.#current;
    if (session === undefined) return false;
    try {
      stream.open(session);
      return true;
    } catch {
      // Between GOAWAY or loss and its event: this connection takes no more streams, the next one
      // will.
      this.#current = undefined;
      session.close();
      return false;
    }
  }

  #connect(): void {
    const session: ClientSession = new ClientSession(
      { ...this.#options, secureContext: this.#secureContext() },
      {
        onReady: () => this.#onReady(session),
        onDraining: () => this.#onDraining(session),
        onClosed: (error) => this.#onClosed(session, error),
      },
    );
    this.#current = session;
    this.#sessions.add(session);
  }

  #onReady(session: ClientSession): void {
    this.resetBackoff();
    this.#lastError = undefined;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const stream of waiting) {
      if (stream.isOver) continue;
      if (this.#current !== session || !this.#tryOpen(stream)) this.#waiting.push(stream);
    }
    if (this.#waiting.length > 0) this.#connect();
    else if (this.#closed) session.close();
  }

  #onDraining(session: ClientSession): void {
    if (this.#current === session) this.#current = undefined;
  }

  #onClosed(session: ClientSession, error: ConnectionError | undefined): void {
    this.#sessions.delete(session);
    if (this.#current === session) this.#current = undefined;
    if (session.wasReady) {
      this.#lastError = error;
    } else {
      this.#onAttemptFailed(error ?? new ConnectionError(`${this.#options.name}: channel closed`));
    }
    this.#reportEmpty();
  }

  #onAttemptFailed(error: ConnectionError): void {
    this.#lastError = error;
    const { clock, random } = this.#options.runtime;
    this.#backoffUntilMs = clock.nowMs() + this.#nextBackoffMs(random);
    this.#failures++;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const stream of waiting) {
      stream.fail(localStatus(StatusCode.UNAVAILABLE, error.message, error));
    }
  }

  #nextBackoffMs(random: Random): number {
    const { reconnectBackoffMinMs: min, reconnectBackoffMaxMs: max } = this.#options.limits;
    const base = Math.min(max, min * BACKOFF_FACTOR ** this.#failures);
    const percent = randomInteger(random, -BACKOFF_JITTER_PERCENT, BACKOFF_JITTER_PERCENT);
    return base * (1 + percent / 100);
  }

  #failLater(stream: GrpcClientStream, state: 'closed' | 'backoff'): void {
    const name = this.#options.name;
    const cause = this.#lastError ?? new ConnectionError(`${name}: channel ${state}`);
    const text = state === 'closed' ? `${name}: channel closed` : `${cause.message} (in back-off)`;
    this.#options.runtime.timers.enqueue(() =>
      stream.fail(localStatus(StatusCode.UNAVAILABLE, text, cause)),
    );
  }

  #reportEmpty(): void {
    if (!this.#closed || this.#sessions.size > 0) return;
    const onEmpty = this.#onEmpty;
    this.#onEmpty = undefined;
    onEmpty?.();
  }
}
