import { constants, type Http2Session, type ServerHttp2Stream } from 'node:http2';
import { toError } from '../../common/errors.js';
import type { Logger } from '../../common/logger.js';
import type { Runtime, Timer } from '../../common/runtime.js';
import {
  type OutgoingMessage,
  type PeerIdentity,
  type RpcStatus,
  StatusCode,
  type TransportLimits,
} from '../transport.js';
import { messageBytes } from './frame-encoder.js';
import { FrameReader } from './frame-reader.js';
import { FrameWriter } from './frame-writer.js';
import { NO_DATE } from './http2-options.js';
import { encodeTrailers, localStatus, statusOfReset } from './status.js';
import { timerDelayMs } from './timeout.js';

export interface ExchangeContext {
  readonly limits: TransportLimits;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly path: string;
  readonly peer: PeerIdentity;
  /** The caller's deadline, milliseconds from now. */
  readonly timeoutMs: number | undefined;
}

export interface ExchangeListener {
  onMessage(message: Uint8Array): void;
  onHalfClose(): void;
  /** The exchange is over by the peer's act, the deadline or a failure; never after `end`. */
  onEnd(status: RpcStatus): void;
  onDrain(): void;
}

/** Response headers in Java's order; they go out with the first message (spec: wire-grpc 3.1). */
const RESPONSE_HEADERS = {
  ':status': 200,
  'content-type': 'application/grpc',
  'grpc-encoding': 'identity',
  'grpc-accept-encoding': 'identity',
} as const;

/** The server's end of one HTTP/2 stream, shared by unary calls and bidirectional streams. */
export class ServerExchange {
  readonly context: ExchangeContext;
  readonly #http2: ServerHttp2Stream;
  /** Kept because a destroyed stream forgets it. */
  readonly #session: Http2Session | undefined;
  readonly #writer: FrameWriter;
  readonly #deadlineTimer: Timer | undefined;
  #listener: ExchangeListener | undefined;
  #reader: FrameReader | undefined;
  #ended = false;
  #responded = false;

  constructor(http2: ServerHttp2Stream, context: ExchangeContext) {
    this.context = context;
    this.#http2 = http2;
    this.#session = http2.session;
    const { timers } = context.runtime;
    this.#writer = new FrameWriter({
      timers,
      sendBufferBytes: context.limits.sendBufferBytes,
      onDrain: () => this.#guard((listener) => listener.onDrain()),
    });
    http2.once('close', () => this.#onClose());
    if (context.timeoutMs !== undefined) {
      this.#deadlineTimer = timers.schedule(
        timerDelayMs(context.timeoutMs),
        () => this.#failByUs(localStatus(StatusCode.DEADLINE_EXCEEDED, 'deadline exceeded')),
        true,
      );
    }
  }

  get bufferedBytes(): number {
    return this.#writer.bufferedBytes;
  }

  get isEnded(): boolean {
    return this.#ended;
  }

  /** Starts to read and write. */
  start(listener: ExchangeListener, paused: boolean): void {
    if (this.#ended) return;
    const { limits, runtime } = this.context;
    this.#listener = listener;
    this.#writer.attach(this.#http2, () => this.#respond());
    this.#reader = new FrameReader(
      this.#http2,
      limits.maxInboundMessageBytes,
      runtime.timers,
      {
        onMessage: (message) => this.#guard((to) => to.onMessage(message)),
        onReadEnd: (truncated) => this.#onReadEnd(truncated),
        onReadFailure: (status) => this.#failByUs(status),
      },
      paused,
    );
  }

  send(message: OutgoingMessage): boolean {
    if (this.#ended) return true;
    const size = messageBytes(message);
    const limit = this.context.limits.maxOutboundMessageBytes;
    if (size <= limit) return this.#writer.send(message);
    const text = `message of ${size} bytes is larger than the sending limit of ${limit}`;
    const status = localStatus(StatusCode.RESOURCE_EXHAUSTED, text);
    this.#sendEnd(status);
    this.#tellEndLater(status);
    return true;
  }

  pause(): void {
    this.#reader?.pause();
  }

  resume(): void {
    this.#reader?.resume();
  }

  /** Ends the exchange: queued messages first, then the trailers. */
  end(status: RpcStatus): void {
    this.#sendEnd(status);
    this.#listener = undefined;
  }

  #sendEnd(status: RpcStatus): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#deadlineTimer?.cancel();
    this.#reader?.stop();
    if (this.#reader === undefined) this.#writer.attach(this.#http2, () => this.#respond());
    const trailers = encodeTrailers(status);
    this.#writer.end((_sink, last) => this.#writeEnd(last, trailers));
  }

  #respond(): void {
    if (this.#responded || !isWritable(this.#http2)) return;
    this.#responded = true;
    this.#http2.respond(RESPONSE_HEADERS, { waitForTrailers: true, ...NO_DATE });
  }

  #writeEnd(last: Uint8Array | undefined, trailers: Record<string, string>): void {
    const http2 = this.#http2;
    if (!isWritable(http2)) return;
    if (!this.#responded) {
      this.#responded = true;
      const { ':status': status, 'content-type': contentType } = RESPONSE_HEADERS;
      http2.respond(
        { ':status': status, 'content-type': contentType, ...trailers },
        { endStream: true, ...NO_DATE },
      );
      this.#releaseStream();
      return;
    }
    http2.once('wantTrailers', () => {
      if (isWritable(http2)) http2.sendTrailers(trailers);
      this.#releaseStream();
    });
    if (last === undefined) http2.end();
    else http2.end(last);
  }

  /**
   * A client that has not half-closed would keep the stream open: tell it that nothing more is read
   * (RFC 9113, 8.1).
   */
  #releaseStream(): void {
    const http2 = this.#http2;
    if (http2.readableEnded || http2.closed || http2.destroyed) return;
    this.context.runtime.timers.defer(() => {
      if (!http2.readableEnded && !http2.closed && !http2.destroyed) {
        http2.close(constants.NGHTTP2_NO_ERROR);
      }
    });
  }

  #onReadEnd(truncated: boolean): void {
    // Node ends the input of a stream that was reset, too; 'close' follows then and tells why.
    if (this.#http2.aborted || (this.#http2.rstCode ?? 0) !== constants.NGHTTP2_NO_ERROR) return;
    if (truncated) {
      this.#failByUs(localStatus(StatusCode.INTERNAL, 'peer half-closed inside a message'));
    } else {
      this.#guard((listener) => listener.onHalfClose());
    }
  }

  #failByUs(status: RpcStatus): void {
    if (this.#ended) return;
    this.#sendEnd(status);
    this.#tellEnd(status);
  }

  #onClose(): void {
    this.#deadlineTimer?.cancel();
    this.#writer.stop();
    if (this.#ended) return;
    this.#ended = true;
    this.#reader?.stop();
    this.#tellEnd(this.#closeStatus());
  }

  #closeStatus(): RpcStatus {
    if (isLost(this.#session)) {
      const text = `connection to ${this.context.peer.remoteAddress} lost`;
      return localStatus(StatusCode.UNAVAILABLE, text);
    }
    return statusOfReset(this.#http2.rstCode ?? constants.NGHTTP2_CANCEL);
  }

  #tellEndLater(status: RpcStatus): void {
    this.context.runtime.timers.enqueue(() => this.#tellEnd(status));
  }

  #tellEnd(status: RpcStatus): void {
    const listener = this.#listener;
    this.#listener = undefined;
    try {
      listener?.onEnd(status);
    } catch (error) {
      this.#logFailure(error);
    }
  }

  /**
   * An exception of a handler ends its stream as an unchecked one does in Java (spec: wire-grpc
   * 4.5).
   */
  #guard(callback: (listener: ExchangeListener) => void): void {
    const listener = this.#listener;
    if (listener === undefined || this.#ended) return;
    try {
      callback(listener);
    } catch (error) {
      this.#logFailure(error);
      this.#failByUs(localStatus(StatusCode.UNKNOWN, 'Application error processing RPC'));
    }
  }

  #logFailure(error: unknown): void {
    const { logger, path, peer } = this.context;
    const fields = { error: toError(error), remoteAddress: peer.remoteAddress };
    logger.log('error', `handler of ${path} failed`, fields);
  }
}

function isWritable(http2: ServerHttp2Stream): boolean {
  return !http2.destroyed && !http2.closed && !http2.aborted;
}

/** True when the connection broke, as opposed to a stream that the peer reset. */
function isLost(session: Http2Session | undefined): boolean {
  if (session === undefined || session.destroyed) return true;
  const socket: { readonly destroyed: boolean } | undefined = session.socket;
  return socket === undefined || socket.destroyed;
}
