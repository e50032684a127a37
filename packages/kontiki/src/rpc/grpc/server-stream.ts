import { toError } from '../../common/errors.js';
import {
  type OutgoingMessage,
  type PeerIdentity,
  type RpcStatus,
  type ServerStream,
  StatusCode,
  type StreamHandler,
  type StreamListener,
} from '../transport.js';
import type { ServerExchange } from './server-exchange.js';
import { localStatus } from './status.js';

/** A bidirectional stream as its handler sees it. */
export class GrpcServerStream implements ServerStream {
  readonly #exchange: ServerExchange;
  #paused = false;

  constructor(exchange: ServerExchange) {
    this.#exchange = exchange;
  }

  get peer(): PeerIdentity {
    return this.#exchange.context.peer;
  }

  get bufferedBytes(): number {
    return this.#exchange.bufferedBytes;
  }

  get isPaused(): boolean {
    return this.#paused;
  }

  send(message: OutgoingMessage): boolean {
    return this.#exchange.send(message);
  }

  pause(): void {
    this.#paused = true;
    this.#exchange.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#exchange.resume();
  }

  end(status: RpcStatus): void {
    this.#exchange.end(status);
  }
}

/** Lets `handler` take the stream of `exchange`. */
export function serveStream(exchange: ServerExchange, handler: StreamHandler): void {
  const stream = new GrpcServerStream(exchange);
  let listener: StreamListener;
  try {
    listener = handler(stream);
  } catch (error) {
    const { logger, path } = exchange.context;
    logger.log('error', `handler of ${path} failed`, { error: toError(error) });
    exchange.end(localStatus(StatusCode.UNKNOWN, 'Application error processing RPC'));
    return;
  }
  exchange.start(
    {
      onMessage: (message) => listener.onMessage(message),
      onHalfClose: () => listener.onHalfClose?.(),
      onEnd: (status) => listener.onEnd(status),
      onDrain: () => listener.onDrain?.(),
    },
    stream.isPaused,
  );
}
