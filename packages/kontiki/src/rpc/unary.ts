import {
  type ClientStream,
  OK_STATUS,
  type OutgoingMessage,
  type PeerIdentity,
  type PendingCall,
  type RpcStatus,
  type ServerCall,
  type ServerStream,
  StatusCode,
  type StreamListener,
  type UnaryHandler,
} from './transport.js';

type CallCallback = (status: RpcStatus, reply: Uint8Array | undefined) => void;

/**
 * A unary call as the listener of a stream: exactly one message and OK, or a status that is not OK.
 */
export class UnaryCallListener implements StreamListener, PendingCall {
  readonly #callback: CallCallback;
  #stream: ClientStream | undefined;
  #reply: Uint8Array | undefined;
  #replies = 0;

  constructor(callback: CallCallback) {
    this.#callback = callback;
  }

  /** Sends the request on `stream`, whose listener this is. */
  start(stream: ClientStream, request: OutgoingMessage): void {
    this.#stream = stream;
    stream.send(request);
    stream.halfClose();
  }

  onMessage(message: Uint8Array): void {
    this.#replies++;
    this.#reply = message;
  }

  onEnd(status: RpcStatus): void {
    if (status.code !== StatusCode.OK) this.#callback(status, undefined);
    else if (this.#replies === 1) this.#callback(status, this.#reply);
    else this.#callback(internal(`peer sent ${this.#replies} replies to a unary call`), undefined);
  }

  cancel(): void {
    this.#stream?.cancel();
  }
}

/** Serves a unary call on a stream: collects the single request, then asks `handler`. */
export function unaryListener(
  stream: ServerStream,
  timeoutMs: number | undefined,
  handler: UnaryHandler,
): StreamListener {
  let request: Uint8Array | undefined;
  let call: StreamServerCall | undefined;
  return {
    onMessage(message) {
      if (request === undefined) request = message;
      else stream.end(internal('unary call with several requests'));
    },
    onHalfClose() {
      if (request === undefined) {
        stream.end(internal('unary call without a request'));
        return;
      }
      call = new StreamServerCall(stream, timeoutMs, request);
      handler(call);
    },
    onEnd() {
      call?.tellCancelled();
    },
  };
}

class StreamServerCall implements ServerCall {
  readonly request: Uint8Array;
  readonly timeoutMs: number | undefined;
  readonly #stream: ServerStream;
  #cancelListener: (() => void) | undefined;

  constructor(stream: ServerStream, timeoutMs: number | undefined, request: Uint8Array) {
    this.#stream = stream;
    this.timeoutMs = timeoutMs;
    this.request = request;
  }

  get peer(): PeerIdentity {
    return this.#stream.peer;
  }

  reply(message: OutgoingMessage): void {
    this.#cancelListener = undefined;
    this.#stream.send(message);
    this.#stream.end(OK_STATUS);
  }

  fail(status: RpcStatus): void {
    this.#cancelListener = undefined;
    this.#stream.end(status);
  }

  onCancel(listener: () => void): void {
    this.#cancelListener = listener;
  }

  tellCancelled(): void {
    const listener = this.#cancelListener;
    this.#cancelListener = undefined;
    listener?.();
  }
}

function internal(message: string): RpcStatus {
  return { code: StatusCode.INTERNAL, message, metadata: {} };
}
