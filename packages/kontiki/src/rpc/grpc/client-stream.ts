import { type ClientHttp2Stream, constants, type IncomingHttpHeaders } from 'node:http2';
import { toError } from '../../common/errors.js';
import type { Runtime, Timer } from '../../common/runtime.js';
import {
  type CallOptions,
  type ClientStream,
  type OutgoingMessage,
  type RpcStatus,
  StatusCode,
  type StreamListener,
  type TransportLimits,
} from '../transport.js';
import { messageBytes } from './frame-encoder.js';
import { FrameReader } from './frame-reader.js';
import { FrameWriter } from './frame-writer.js';
import { addMetadata } from './metadata.js';
import type { ClientSession } from './session.js';
import { decodeTrailers, localStatus, statusOfHttp, statusOfReset } from './status.js';
import { formatTimeout, timerDelayMs } from './timeout.js';

export interface ClientStreamContext {
  readonly target: string;
  readonly scheme: 'http' | 'https';
  readonly limits: TransportLimits;
  readonly runtime: Runtime;
}

/** The client's end of one stream: waiting for a session, open, or over. */
export class GrpcClientStream implements ClientStream {
  readonly #context: ClientStreamContext;
  readonly #listener: StreamListener;
  readonly #headers: Record<string, string>;
  readonly #writer: FrameWriter;
  readonly #deadlineMs: number | undefined;
  readonly #deadlineTimer: Timer | undefined;
  /**
   * Node's `close` of a stream half-closes it before the reset, which a server could take for an
   * orderly end; a signal only resets.
   */
  readonly #cancel = new AbortController();
  #reader: FrameReader | undefined;
  #http2: ClientHttp2Stream | undefined;
  #session: ClientSession | undefined;
  #paused = false;
  #halfClosed = false;
  #trailers: IncomingHttpHeaders | undefined;
  #foreignReply: RpcStatus | undefined;
  #over = false;

  /** Throws InvalidArgumentError when the metadata cannot be sent. */
  constructor(
    context: ClientStreamContext,
    path: string,
    listener: StreamListener,
    options: CallOptions,
  ) {
    this.#context = context;
    this.#listener = listener;
    this.#headers = requestHeaders(context, path, options);
    const { timers, clock } = context.runtime;
    this.#writer = new FrameWriter({
      timers,
      sendBufferBytes: context.limits.sendBufferBytes,
      onDrain: () => this.#guard(() => this.#listener.onDrain?.()),
    });
    const timeoutMs = options.timeoutMs;
    if (timeoutMs !== undefined) {
      this.#deadlineMs = clock.nowMs() + timeoutMs;
      const text = `deadline of ${timeoutMs} ms exceeded`;
      this.#deadlineTimer = timers.schedule(timerDelayMs(timeoutMs), () =>
        this.#abort(localStatus(StatusCode.DEADLINE_EXCEEDED, text)),
      );
    }
  }

  get isOver(): boolean {
    return this.#over;
  }

  get bufferedBytes(): number {
    return this.#writer.bufferedBytes;
  }

  send(message: OutgoingMessage): boolean {
    if (this.#over || this.#halfClosed) return true;
    const size = messageBytes(message);
    const limit = this.#context.limits.maxOutboundMessageBytes;
    if (size > limit) {
      this.#halfClosed = true;
      const text = `message of ${size} bytes is larger than the sending limit of ${limit}`;
      this.#abortLater(localStatus(StatusCode.RESOURCE_EXHAUSTED, text));
      return true;
    }
    return this.#writer.send(message);
  }

  halfClose(): void {
    if (this.#over || this.#halfClosed) return;
    this.#halfClosed = true;
    this.#writer.end((sink, last) => (last === undefined ? sink.end() : sink.end(last)));
  }

  cancel(): void {
    this.#abortLater(localStatus(StatusCode.CANCELLED, 'cancelled by this end'));
  }

  pause(): void {
    this.#paused = true;
    this.#reader?.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#reader?.resume();
  }

  /** Starts on `session`. Throws when the session takes no more streams. */
  open(session: ClientSession): void {
    const { limits, runtime } = this.#context;
    if (this.#deadlineMs !== undefined) {
      const leftMs = this.#deadlineMs - runtime.clock.nowMs();
      this.#headers['grpc-timeout'] = formatTimeout(Math.max(leftMs, 0.001));
    }
    const http2 = session.request(this.#headers, this.#cancel.signal);
    this.#session = session;
    this.#http2 = http2;
    http2.on('error', () => undefined); // 'close' follows, and the code tells more
    http2.once('response', (headers, flags) => this.#onResponse(headers, flags));
    http2.on('trailers', (headers: IncomingHttpHeaders) => {
      this.#trailers = headers;
    });
    http2.once('close', () => this.#onClose(http2));
    this.#reader = new FrameReader(
      http2,
      limits.maxInboundMessageBytes,
      runtime.timers,
      {
        onMessage: (message) => this.#guard(() => this.#listener.onMessage(message)),
        onReadEnd: (truncated) => this.#onReadEnd(truncated),
        onReadFailure: (status) => this.#abort(status),
      },
      this.#paused,
    );
    this.#writer.attach(http2);
  }

  /** Ends a stream that never got a session. */
  fail(status: RpcStatus): void {
    this.#finish(status);
  }

  #onResponse(
    headers: IncomingHttpHeaders & { ':status'?: number | undefined },
    flags: number,
  ): void {
    const httpStatus = headers[':status'] ?? 0;
    const contentType = headers['content-type'];
    if (httpStatus !== 200 || contentType?.startsWith('application/grpc') !== true) {
      this.#foreignReply = decodeTrailers(headers) ?? statusOfHttp(httpStatus, contentType);
      this.#abort(this.#foreignReply);
      return;
    }
    if ((flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0) this.#trailers = headers;
  }

  #onReadEnd(truncated: boolean): void {
    if (this.#session?.isLost === true && this.#trailers === undefined) return; // 'close' tells why
    if (this.#http2 !== undefined && this.#trailers === undefined && this.#http2.rstCode !== 0)
      return;
    this.#abort(this.#endStatus(truncated));
  }

  #endStatus(truncated: boolean): RpcStatus {
    const status = this.#trailers === undefined ? undefined : decodeTrailers(this.#trailers);
    if (status === undefined) {
      return localStatus(StatusCode.INTERNAL, 'peer ended the stream without a status');
    }
    if (truncated && status.code === StatusCode.OK) {
      return localStatus(StatusCode.INTERNAL, 'peer ended the stream inside a message');
    }
    return status;
  }

  #onClose(http2: ClientHttp2Stream): void {
    if (this.#over) return;
    const session = this.#session;
    if (this.#trailers !== undefined && this.#reader === undefined) return;
    if (session?.isLost === true) {
      const error = session.error;
      const text = error?.message ?? `${this.#context.target}: connection closed`;
      this.#finish(localStatus(StatusCode.UNAVAILABLE, text, error));
      return;
    }
    this.#finish(this.#closeStatus(http2));
  }

  #closeStatus(http2: ClientHttp2Stream): RpcStatus {
    const trailers = this.#trailers === undefined ? undefined : decodeTrailers(this.#trailers);
    if (trailers !== undefined) return trailers;
    return statusOfReset(http2.rstCode ?? constants.NGHTTP2_INTERNAL_ERROR);
  }

  #abortLater(status: RpcStatus): void {
    if (this.#over) return;
    this.#context.runtime.timers.enqueue(() => this.#abort(status));
    this.#reader?.pause();
    this.#writer.stop();
  }

  /** Ends the stream here; tells the peer unless it ended it already. */
  #abort(status: RpcStatus): void {
    if (this.#over) return;
    const http2 = this.#http2;
    this.#finish(status);
    if (http2 === undefined || http2.closed || http2.destroyed) return;
    if (!http2.readableEnded || !http2.writableEnded) this.#cancel.abort();
  }

  #finish(status: RpcStatus): void {
    if (this.#over) return;
    this.#over = true;
    this.#deadlineTimer?.cancel();
    this.#writer.stop();
    this.#reader?.stop();
    this.#listener.onEnd(status);
  }

  /** An exception of the listener must not reach Node's stream code: it ends this stream. */
  #guard(callback: () => void): void {
    if (this.#over) return;
    try {
      callback();
    } catch (error) {
      const text = 'the listener of the stream failed';
      this.#abortLater(localStatus(StatusCode.INTERNAL, text, toError(error)));
    }
  }
}

/** Request headers in Java's order (spec: wire-grpc 3.1). */
function requestHeaders(
  context: ClientStreamContext,
  path: string,
  options: CallOptions,
): Record<string, string> {
  const headers: Record<string, string> = {
    ':authority': context.target,
    ':path': path,
    ':method': 'POST',
    ':scheme': context.scheme,
    'content-type': 'application/grpc',
    te: 'trailers',
    'user-agent': 'grpc-node-kontiki',
    'grpc-accept-encoding': 'identity',
  };
  if (options.metadata !== undefined) addMetadata(headers, options.metadata);
  return headers;
}
