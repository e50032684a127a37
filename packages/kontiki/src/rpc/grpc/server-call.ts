import {
  OK_STATUS,
  type OutgoingMessage,
  type PeerIdentity,
  type RpcStatus,
  type ServerCall,
  StatusCode,
  type UnaryHandler,
} from '../transport.js';
import type { ExchangeListener, ServerExchange } from './server-exchange.js';
import { localStatus } from './status.js';

/** A unary call as its handler sees it. */
class GrpcServerCall implements ServerCall {
  readonly request: Uint8Array;
  readonly #exchange: ServerExchange;
  #cancelListener: (() => void) | undefined;

  constructor(exchange: ServerExchange, request: Uint8Array) {
    this.#exchange = exchange;
    this.request = request;
  }

  get peer(): PeerIdentity {
    return this.#exchange.context.peer;
  }

  get timeoutMs(): number | undefined {
    return this.#exchange.context.timeoutMs;
  }

  reply(message: OutgoingMessage): void {
    this.#cancelListener = undefined;
    this.#exchange.send(message);
    this.#exchange.end(OK_STATUS);
  }

  fail(status: RpcStatus): void {
    this.#cancelListener = undefined;
    this.#exchange.end(status);
  }

  onCancel(listener: () => void): void {
    this.#cancelListener = listener;
  }

  tellCancelled(): void {
    this.#cancelListener?.();
  }
}

/** Collects the single request of a unary call, then asks `handler`. */
export function serveCall(exchange: ServerExchange, handler: UnaryHandler): void {
  exchange.start(new CallCollector(exchange, handler), false);
}

class CallCollector implements ExchangeListener {
  readonly #exchange: ServerExchange;
  readonly #handler: UnaryHandler;
  #request: Uint8Array | undefined;
  #call: GrpcServerCall | undefined;

  constructor(exchange: ServerExchange, handler: UnaryHandler) {
    this.#exchange = exchange;
    this.#handler = handler;
  }

  onMessage(message: Uint8Array): void {
    if (this.#request === undefined) this.#request = message;
    else this.#exchange.end(localStatus(StatusCode.INTERNAL, 'unary call with several requests'));
  }

  onHalfClose(): void {
    if (this.#request === undefined) {
      this.#exchange.end(localStatus(StatusCode.INTERNAL, 'unary call without a request'));
      return;
    }
    this.#call = new GrpcServerCall(this.#exchange, this.#request);
    this.#handler(this.#call);
  }

  onEnd(): void {
    this.#call?.tellCancelled();
  }

  onDrain(): void {
    // A unary call sends one message.
  }
}
