import {
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type Http2Server,
  type IncomingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from 'node:http2';
import type { AddressInfo } from 'node:net';
import { InvalidArgumentError, messageOf } from '../../common/errors.js';
import type { Logger } from '../../common/logger.js';
import type { Runtime } from '../../common/runtime.js';
import { ListenError } from '../listen-error.js';
import {
  type RpcServer,
  type ServerOptions,
  type ServiceDefinition,
  StatusCode,
  type StreamHandler,
  type TlsOptions,
  type UnaryHandler,
} from '../transport.js';
import { unaryListener } from '../unary.js';
import { http2SessionOptions, NO_DATE, windowBytes } from './http2-options.js';
import { ServerConnections } from './server-connections.js';
import { ServerExchange } from './server-exchange.js';
import { serveStream } from './server-stream.js';
import { localStatus } from './status.js';
import { parseTimeout } from './timeout.js';
import { serverTlsInput } from './tls.js';

type AnyServer = Http2Server | Http2SecureServer;

/** A gRPC server on one address. */
export class GrpcServer implements RpcServer {
  readonly #options: ServerOptions;
  readonly #runtime: Runtime;
  readonly #logger: Logger;
  readonly #streams = new Map<string, StreamHandler>();
  readonly #unary = new Map<string, UnaryHandler>();
  readonly #server: AnyServer;
  readonly #connections: ServerConnections;
  #address: { readonly host: string; readonly port: number } | undefined;
  #closing: Promise<void> | undefined;

  /** Throws TlsConfigurationError for an unusable TLS slot. */
  constructor(options: ServerOptions, runtime: Runtime, logger: Logger) {
    this.#options = options;
    this.#runtime = runtime;
    this.#logger = logger;
    this.#server = makeServer(options);
    this.#connections = new ServerConnections(this.#server, runtime, logger, options.limits);
    this.#server.on('session', (session) => this.#onSession(session));
    this.#server.on('stream', (stream, headers) => this.#onStream(stream, headers));
  }

  get address(): { readonly host: string; readonly port: number } {
    if (this.#address === undefined) throw new InvalidArgumentError('the server does not listen');
    return this.#address;
  }

  addService(service: ServiceDefinition): void {
    for (const [path, handler] of Object.entries(service.streams ?? {})) {
      this.#checkFree(path);
      this.#streams.set(path, handler);
    }
    for (const [path, handler] of Object.entries(service.unary ?? {})) {
      this.#checkFree(path);
      this.#unary.set(path, handler);
    }
  }

  async listen(): Promise<void> {
    const { host, port } = this.#options;
    await new Promise<void>((resolve, reject) => {
      const onError = (error: Error) => reject(new ListenError(host, port, error));
      this.#server.once('error', onError);
      this.#server.listen({ port, ...(host === undefined ? {} : { host }) }, () => {
        this.#server.off('error', onError);
        this.#server.on('error', (error: Error) => {
          this.#logger.log('error', 'listener failed', { error });
        });
        const bound = this.#server.address() as AddressInfo;
        this.#address = { host: bound.address, port: bound.port };
        resolve();
      });
    });
  }

  /**
   * New connections get these certificates. Throws InvalidArgumentError without TLS,
   * TlsConfigurationError for unusable ones.
   */
  updateTls(tls: TlsOptions): void {
    if (!('setSecureContext' in this.#server)) {
      throw new InvalidArgumentError('the server was made without TLS');
    }
    this.#server.setSecureContext({ ...serverTlsInput(tls), minVersion: 'TLSv1.2' });
  }

  close(graceMs: number): Promise<void> {
    if (this.#closing !== undefined) {
      this.#connections.cutAfter(graceMs);
      return this.#closing;
    }
    this.#closing = new Promise((resolve) => {
      const onClosed = () => this.#connections.whenEmpty(resolve);
      if (this.#server.listening) this.#server.close(onClosed);
      else onClosed();
      this.#connections.closeAll();
      this.#connections.cutAfter(graceMs);
    });
    return this.#closing;
  }

  #checkFree(path: string): void {
    if (!/^\/[^/\s]+\/[^/\s]+$/.test(path)) {
      throw new InvalidArgumentError(`not a method path: ${JSON.stringify(path)}`);
    }
    if (this.#streams.has(path) || this.#unary.has(path)) {
      throw new InvalidArgumentError(`method ${path} is served already`);
    }
  }

  #onSession(session: ServerHttp2Session): void {
    session.setLocalWindowSize(windowBytes(this.#options.limits));
    this.#connections.add(session);
  }

  #onStream(http2: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
    http2.on('error', () => undefined); // 'close' follows, and its code tells more
    if (http2.destroyed || http2.closed || http2.session === undefined) return;
    const refusal = httpRefusal(headers);
    if (refusal !== undefined) {
      http2.respond({ ':status': refusal }, { endStream: true, ...NO_DATE });
      http2.close();
      return;
    }
    const path = String(headers[':path']);
    let timeoutMs: number | undefined;
    let malformed: string | undefined;
    try {
      timeoutMs = readTimeout(headers);
    } catch (error) {
      malformed = messageOf(error);
    }
    const exchange = new ServerExchange(http2, {
      limits: this.#options.limits,
      runtime: this.#runtime,
      logger: this.#logger,
      path,
      peer: this.#connections.identityOf(http2.session),
      timeoutMs,
    });
    if (malformed === undefined) this.#dispatch(exchange, path);
    else exchange.end(localStatus(StatusCode.INTERNAL, malformed));
  }

  #dispatch(exchange: ServerExchange, path: string): void {
    const streamHandler = this.#streams.get(path);
    const unaryHandler = this.#unary.get(path);
    if (streamHandler !== undefined) serveStream(exchange, streamHandler);
    else if (unaryHandler !== undefined) {
      const { timeoutMs } = exchange.context;
      serveStream(exchange, (stream) => unaryListener(stream, timeoutMs, unaryHandler));
    } else exchange.end(localStatus(StatusCode.UNIMPLEMENTED, `method not found: ${path}`));
  }
}

function makeServer(options: ServerOptions): AnyServer {
  const http2Options = http2SessionOptions(options.limits, true);
  if (options.tls === undefined) return createServer(http2Options);
  return createSecureServer({
    ...http2Options,
    ...serverTlsInput(options.tls),
    minVersion: 'TLSv1.2',
    ALPNProtocols: ['h2'],
    allowHTTP1: false,
    handshakeTimeout: 20_000,
    requestCert: options.tls.mutual,
    rejectUnauthorized: options.tls.mutual,
  });
}

/** The HTTP status for requests that are not gRPC. */
function httpRefusal(headers: IncomingHttpHeaders): number | undefined {
  if (headers[':method'] !== 'POST') return 405;
  return headers['content-type']?.startsWith('application/grpc') === true ? undefined : 415;
}

function readTimeout(headers: IncomingHttpHeaders): number | undefined {
  const text = headers['grpc-timeout'];
  return text === undefined ? undefined : parseTimeout(String(text));
}
