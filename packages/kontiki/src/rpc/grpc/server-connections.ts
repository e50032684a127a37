import type { Http2SecureServer, Http2Server, ServerHttp2Session } from 'node:http2';
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { messageOf } from '../../common/errors.js';
import type { Logger } from '../../common/logger.js';
import type { Runtime, Timer } from '../../common/runtime.js';
import { formatAddress } from '../listen-error.js';
import type { PeerIdentity, TransportLimits } from '../transport.js';
import { Keepalive, type KeepaliveTimes } from './keepalive.js';
import { certificateNames } from './tls.js';

/**
 * A connection that did not finish TLS and the HTTP/2 preface in this time is closed, milliseconds.
 */
const HANDSHAKE_TIMEOUT_MS = 20_000;

/**
 * A silent peer is pinged after so long, and given up after so long, unless the limits say
 * otherwise.
 */
const PING_TIME_MS = 60_000;
const PING_TIMEOUT_MS = 20_000;

const UNKNOWN_ADDRESS = 'unknown';

/** A host that keeps being refused for the same reason is warned of this often, milliseconds. */
const WARNING_INTERVAL_MS = 10_000;
const WARNINGS_MAX = 1_000;

interface Connection {
  readonly identity: PeerIdentity;
  greeted: boolean;
}

/** The sockets and sessions of a server: who is there, what went wrong, and how they end. */
export class ServerConnections {
  readonly #runtime: Runtime;
  readonly #logger: Logger;
  readonly #sockets = new Set<Socket>();
  /** A socket that is closed no longer tells its address. */
  readonly #addresses = new WeakMap<Socket, string>();
  readonly #sessions = new Map<ServerHttp2Session, Connection>();
  readonly #times: KeepaliveTimes;
  /** When which host was warned of, and why. */
  readonly #warnedAtMs = new Map<string, number>();
  #cutTimer: Timer | undefined;
  #closing = false;
  #onEmpty: (() => void) | undefined;

  constructor(
    server: Http2Server | Http2SecureServer,
    runtime: Runtime,
    logger: Logger,
    limits: TransportLimits,
  ) {
    this.#times = pingTimes(limits);
    this.#runtime = runtime;
    this.#logger = logger;
    server.on('connection', (socket: Socket) => this.#onSocket(socket));
    server.on('sessionError', () => undefined); // reported by the session's own listener
    server.on('unknownProtocol', (socket: Socket | TLSSocket) => {
      this.#warn(addressOf(socket), 'TLS peer did not negotiate h2 (ALPN)');
      socket.destroy();
    });
    server.on('tlsClientError', (error: Error, socket: TLSSocket) => {
      this.#warn(this.#addressOfTls(socket), `TLS handshake failed: ${describeTls(error, socket)}`);
      socket.destroy();
    });
  }

  add(session: ServerHttp2Session): void {
    const socket = session.socket;
    const connection: Connection = { identity: identify(socket), greeted: false };
    this.#sessions.set(session, connection);
    const timer = this.#runtime.timers.schedule(
      HANDSHAKE_TIMEOUT_MS,
      () => {
        this.#warn(connection.identity.remoteAddress, 'no HTTP/2 SETTINGS within 20 s');
        session.destroy();
      },
      true,
    );
    session.once('remoteSettings', () => {
      connection.greeted = true;
      timer.cancel();
    });
    const keepalive = this.#watch(session, connection);
    session.on('error', (error) => this.#onSessionError(connection, error));
    session.on('frameError', () => undefined);
    session.once('close', () => {
      timer.cancel();
      keepalive.stop();
      this.#sessions.delete(session);
    });
    if (this.#closing) session.close();
  }

  /**
   * Pings a silent peer. This finds dead connections, and those that Node 20 leaves open, without
   * reading from them, after it answered a protocol error by GOAWAY.
   */
  #watch(session: ServerHttp2Session, connection: Connection): Keepalive {
    const { timers } = this.#runtime;
    const keepalive = new Keepalive(session, session.socket, this.#times, timers, (reason) => {
      this.#logger.log('warn', `connection from ${connection.identity.remoteAddress}: ${reason}`);
      session.destroy();
    });
    keepalive.start();
    return keepalive;
  }

  identityOf(session: { readonly socket: unknown }): PeerIdentity {
    const known = this.#sessions.get(session as ServerHttp2Session);
    return known?.identity ?? { remoteAddress: UNKNOWN_ADDRESS, certificateNames: [] };
  }

  /** GOAWAY to every peer: open streams may finish. */
  closeAll(): void {
    this.#closing = true;
    for (const session of this.#sessions.keys()) session.close();
  }

  cutAfter(graceMs: number): void {
    this.#cutTimer?.cancel();
    if (this.#sockets.size === 0) return;
    this.#cutTimer = this.#runtime.timers.schedule(Math.max(0, graceMs), () => {
      for (const session of this.#sessions.keys()) session.destroy();
      for (const socket of this.#sockets) socket.destroy();
    });
  }

  whenEmpty(callback: () => void): void {
    this.#onEmpty = callback;
    this.#reportEmpty();
  }

  #onSocket(socket: Socket): void {
    this.#sockets.add(socket);
    this.#addresses.set(socket, addressOf(socket));
    socket.setNoDelay(true);
    socket.setKeepAlive(true, 60_000);
    socket.on('error', () => undefined); // the session or the TLS listener reports it
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#reportEmpty();
    });
  }

  #reportEmpty(): void {
    if (this.#onEmpty === undefined || this.#sockets.size > 0) return;
    this.#cutTimer?.cancel();
    const onEmpty = this.#onEmpty;
    this.#onEmpty = undefined;
    onEmpty();
  }

  #onSessionError(connection: Connection, error: Error): void {
    const address = connection.identity.remoteAddress;
    const code = String((error as { code?: unknown }).code ?? '');
    const protocol = code.startsWith('ERR_HTTP2');
    if (!connection.greeted) this.#warn(address, `peer does not speak HTTP/2: ${messageOf(error)}`);
    else if (protocol) this.#warn(address, `HTTP/2 error: ${messageOf(error)}`);
    else this.#logger.log('debug', `connection from ${address} lost: ${messageOf(error)}`);
  }

  #addressOfTls(socket: TLSSocket): string {
    const address = addressOf(socket);
    if (address !== UNKNOWN_ADDRESS) return address;
    // Node keeps the TCP socket below a TLS socket there; without it the log line just lacks the
    // address.
    const { _parent: below } = socket as { readonly _parent?: Socket | null };
    return (below == null ? undefined : this.#addresses.get(below)) ?? UNKNOWN_ADDRESS;
  }

  #warn(address: string, text: string): void {
    const nowMs = this.#runtime.clock.nowMs();
    const key = `${address.replace(/:\d+$/, '')} ${text}`;
    const warnedAtMs = this.#warnedAtMs.get(key);
    const isRepeated = warnedAtMs !== undefined && nowMs - warnedAtMs < WARNING_INTERVAL_MS;
    if (!isRepeated) {
      if (this.#warnedAtMs.size >= WARNINGS_MAX) this.#warnedAtMs.clear();
      this.#warnedAtMs.set(key, nowMs);
    }
    this.#logger.log(isRepeated ? 'debug' : 'warn', `connection from ${address} refused: ${text}`);
  }
}

function pingTimes(limits: TransportLimits): KeepaliveTimes {
  const { keepaliveTimeMs, keepaliveTimeoutMs } = limits;
  return {
    keepaliveTimeMs: keepaliveTimeMs > 0 ? keepaliveTimeMs : PING_TIME_MS,
    keepaliveTimeoutMs: keepaliveTimeoutMs > 0 ? keepaliveTimeoutMs : PING_TIMEOUT_MS,
  };
}

function identify(socket: Socket | TLSSocket): PeerIdentity {
  const tls = socket as Partial<TLSSocket>;
  const verified = tls.authorized === true && typeof tls.getPeerCertificate === 'function';
  return {
    remoteAddress: addressOf(socket),
    certificateNames: verified ? certificateNames((socket as TLSSocket).getPeerCertificate()) : [],
  };
}

function addressOf(socket: Socket): string {
  const { remoteAddress, remotePort } = socket;
  if (remoteAddress === undefined || remotePort === undefined) return UNKNOWN_ADDRESS;
  return formatAddress(remoteAddress, remotePort);
}

function describeTls(error: Error, socket: TLSSocket): string {
  const { reason, code } = error as { reason?: string; code?: string };
  // Node hangs up on a certificate that it could not verify, and keeps the reason here (a code,
  // whatever the type says).
  const rejection: unknown = socket.authorizationError;
  if (rejection != null) return `client certificate not accepted (${String(rejection)})`;
  return reason === undefined ? error.message : `${reason} (${code ?? 'TLS'})`;
}
