import { type ClientHttp2Session, type ClientHttp2Stream, connect, constants } from 'node:http2';
import { connect as connectTcp, isIP, type Socket } from 'node:net';
import { connect as connectTls, type SecureContext, type TLSSocket } from 'node:tls';
import { messageOf, toError } from '../../common/errors.js';
import type { Runtime, Timer } from '../../common/runtime.js';
import type { TransportLimits } from '../transport.js';
import { ConnectionError } from './errors.js';
import { http2SessionOptions, windowBytes } from './http2-options.js';
import { Keepalive } from './keepalive.js';
import type { Target } from './target.js';

export type SessionState = 'connecting' | 'ready' | 'draining' | 'closed';

export interface SessionOptions {
  readonly name: string;
  readonly target: Target;
  readonly secureContext: SecureContext | undefined;
  readonly limits: TransportLimits;
  readonly runtime: Runtime;
}

export interface SessionListener {
  /** TCP, TLS and the peer's SETTINGS are there. */
  onReady(): void;
  /** The peer sent GOAWAY: open streams may finish, new ones need another session. */
  onDraining(): void;
  /** The socket is gone. `error` is undefined after an orderly close. Called exactly once. */
  onClosed(error: ConnectionError | undefined): void;
}

/** One HTTP/2 connection of a channel: connecting → ready → (draining) → closed. */
export class ClientSession {
  readonly #options: SessionOptions;
  readonly #listener: SessionListener;
  readonly #connectTimer: Timer;
  readonly #socket: Socket | TLSSocket;
  #http2: ClientHttp2Session | undefined;
  #keepalive: Keepalive | undefined;
  #state: SessionState = 'connecting';
  #step: string;
  #error: ConnectionError | undefined;
  #openStreams = 0;
  #wasReady = false;

  constructor(options: SessionOptions, listener: SessionListener) {
    this.#options = options;
    this.#listener = listener;
    this.#step = 'connect failed';
    const { target, secureContext, runtime, limits } = options;
    this.#connectTimer = runtime.timers.schedule(limits.connectTimeoutMs, () => {
      this.destroy(`${this.#step}: no answer within ${limits.connectTimeoutMs} ms`);
    });
    this.#socket =
      secureContext === undefined ? this.#openPlain(target) : this.#openTls(target, secureContext);
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('close', () => this.#onSocketClosed());
    this.#socket.setNoDelay(true);
    this.#socket.setKeepAlive(true, 60_000);
  }

  get state(): SessionState {
    return this.#state;
  }

  /** True once the peer's SETTINGS arrived: the attempt to connect succeeded. */
  get wasReady(): boolean {
    return this.#wasReady;
  }

  /** Why the connection was lost; undefined while it lives, and after an orderly close. */
  get error(): ConnectionError | undefined {
    return this.#error;
  }

  /** True when streams of this session cannot have been ended by the peer's own word. */
  get isLost(): boolean {
    return this.#error !== undefined || this.#socket.destroyed || this.#http2?.destroyed === true;
  }

  /**
   * Opens a stream, which `cancel` resets. Throws when the session takes no more; the caller then
   * uses another one.
   */
  request(headers: Record<string, string>, cancel: AbortSignal): ClientHttp2Stream {
    const http2 = this.#http2;
    if (this.#state !== 'ready' || http2 === undefined || http2.closed || http2.destroyed) {
      throw this.#lostError();
    }
    const stream = http2.request(headers, { endStream: false, signal: cancel });
    this.#openStreams++;
    this.#keepalive?.start();
    stream.once('close', () => {
      this.#openStreams--;
      if (this.#openStreams === 0) this.#keepalive?.stop();
    });
    return stream;
  }

  /** Ends the connection when its streams are done. */
  close(): void {
    if (this.#state === 'closed') return;
    if (this.#http2 === undefined) {
      this.#closeWith(undefined);
      return;
    }
    this.#state = 'draining';
    if (!this.#http2.closed) this.#http2.close();
  }

  /** Cuts the connection; its streams end with `reason`. */
  destroy(reason?: string): void {
    if (this.#state === 'closed') return;
    this.#closeWith(reason === undefined ? undefined : this.#errorOf(reason));
  }

  #openPlain(target: Target): Socket {
    const socket = connectTcp({ host: target.host, port: target.port });
    socket.once('connect', () => this.#startHttp2());
    return socket;
  }

  #openTls(target: Target, secureContext: SecureContext): TLSSocket {
    const socket = connectTls({
      host: target.host,
      port: target.port,
      // SNI carries host names only; Node checks the certificate against the name, or against
      // `host` when there is none.
      servername: isIP(target.host) === 0 ? target.host : '',
      secureContext,
      ALPNProtocols: ['h2'],
    });
    socket.once('connect', () => {
      this.#step = 'TLS handshake failed';
    });
    socket.once('secureConnect', () => {
      if (socket.alpnProtocol === 'h2') this.#startHttp2();
      else this.destroy('TLS handshake failed: peer did not negotiate h2 (ALPN)');
    });
    return socket;
  }

  #startHttp2(): void {
    if (this.#state !== 'connecting') return;
    const { limits, runtime, name, secureContext } = this.#options;
    // With TLS 1.3 the server judges our certificate after our own handshake is done.
    if (secureContext === undefined) this.#step = 'peer does not speak HTTP/2';
    const options = http2SessionOptions(limits, false);
    const scheme = secureContext === undefined ? 'http' : 'https';
    const http2 = connect(`${scheme}://${name}`, {
      ...options,
      createConnection: () => this.#socket,
    });
    this.#http2 = http2;
    http2.once('connect', () => http2.setLocalWindowSize(windowBytes(limits)));
    http2.once('remoteSettings', () => this.#onReady());
    http2.on('goaway', (code, _last, data) => this.#onGoaway(code, data));
    http2.on('error', (error) => this.#fail(error));
    http2.on('frameError', () => undefined);
    http2.once('close', () => this.#onHttp2Closed());
    if (limits.keepaliveTimeMs > 0) {
      this.#keepalive = new Keepalive(http2, this.#socket, limits, runtime.timers, (reason) =>
        this.destroy(reason),
      );
    }
  }

  #onReady(): void {
    if (this.#state !== 'connecting') return;
    this.#connectTimer.cancel();
    this.#step = 'connection lost';
    this.#state = 'ready';
    this.#wasReady = true;
    this.#listener.onReady();
  }

  #onGoaway(code: number, data: Uint8Array | undefined): void {
    const text =
      data === undefined ? '' : ` "${Buffer.from(data).toString('latin1').slice(0, 200)}"`;
    if (code !== constants.NGHTTP2_NO_ERROR) {
      this.#error ??= this.#errorOf(`peer closed the connection: GOAWAY with code ${code}${text}`);
    }
    if (this.#state === 'connecting') this.destroy(`peer closed the connection: GOAWAY${text}`);
    if (this.#state !== 'ready') return;
    this.#state = 'draining';
    this.#listener.onDraining();
  }

  #onHttp2Closed(): void {
    if (this.#state === 'connecting') this.#error ??= this.#closedByPeer();
    this.#socket.destroy();
  }

  #fail(thrown: unknown): void {
    if (this.#state === 'closed') return;
    const error = toError(thrown);
    this.#closeWith(this.#errorOf(`${this.#step}: ${describe(error)}`, error));
  }

  #closeWith(error: ConnectionError | undefined): void {
    this.#error ??= error;
    this.#connectTimer.cancel();
    this.#keepalive?.stop();
    if (this.#http2 !== undefined && !this.#http2.destroyed) this.#http2.destroy();
    this.#socket.destroy();
  }

  #onSocketClosed(): void {
    if (this.#state === 'closed') return;
    const orderly = this.#state === 'draining' && this.#openStreams === 0;
    if (this.#state === 'connecting' || (this.#state === 'ready' && !orderly)) {
      this.#error ??= this.#closedByPeer();
    }
    this.#connectTimer.cancel();
    this.#keepalive?.stop();
    this.#state = 'closed';
    this.#listener.onClosed(this.#error);
  }

  #closedByPeer(): ConnectionError {
    const refused = this.#state === 'connecting' && this.#options.secureContext !== undefined;
    const hint = refused ? ' (it may not accept our certificate)' : '';
    return this.#errorOf(`${this.#step}: connection closed by the peer${hint}`);
  }

  #lostError(): ConnectionError {
    return this.#error ?? this.#errorOf('connection closed');
  }

  #errorOf(reason: string, cause?: Error): ConnectionError {
    const options = cause === undefined ? undefined : { cause };
    return new ConnectionError(`${this.#options.name}: ${reason}`, options);
  }
}

/** OpenSSL's messages are long lines of library positions; the reason stands in its own field. */
function describe(error: Error): string {
  const { reason, code, library } = error as { reason?: string; code?: string; library?: string };
  if (library !== undefined && reason !== undefined) return `${reason} (${code ?? library})`;
  const text = messageOf(error);
  return code === undefined || text.includes(code) ? text : `${text} (${code})`;
}
