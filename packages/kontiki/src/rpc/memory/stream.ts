import { toError } from '../../common/errors.js';
import type { Runtime, Timer } from '../../common/runtime.js';
import { timerDelayMs } from '../grpc/timeout.js';
import {
  type CallOptions,
  type ClientStream,
  type OutgoingMessage,
  type PeerIdentity,
  type RpcStatus,
  type ServerStream,
  StatusCode,
  type StreamListener,
  type TransportLimits,
} from '../transport.js';
import { Pipe, type PipeItem } from './pipe.js';

/** Both ends of one stream in process. */
export class MemoryStream {
  readonly client: ClientStream;
  readonly server: ServerStream;
  readonly #runtime: Runtime;
  readonly #clientLimits: TransportLimits;
  readonly #toServer: Pipe;
  readonly #toClient: Pipe;
  readonly #deadlineTimer: Timer | undefined;
  #serverLimits: TransportLimits;
  #clientListener: StreamListener | undefined;
  #serverListener: StreamListener | undefined;
  #onHandlerError: ((error: Error) => void) | undefined;
  #halfClosed = false;
  #serverEnded = false;
  #cut = false;
  readonly #onOver: (() => void)[] = [];

  constructor(
    runtime: Runtime,
    limits: TransportLimits,
    listener: StreamListener,
    options: CallOptions,
    peer: PeerIdentity,
  ) {
    this.#runtime = runtime;
    this.#clientLimits = limits;
    this.#serverLimits = limits;
    this.#clientListener = listener;
    const { timers } = runtime;
    this.#toServer = new Pipe({
      timers,
      markBytes: limits.sendBufferBytes,
      onItem: (item) => this.#onServerItem(item),
      onDrain: () => this.#guardClient((to) => to.onDrain?.()),
    });
    this.#toClient = new Pipe({
      timers,
      markBytes: limits.sendBufferBytes,
      onItem: (item) => this.#onClientItem(item),
      onDrain: () => this.#guardServer((to) => to.onDrain?.()),
    });
    this.client = this.#makeClient();
    this.server = this.#makeServer(peer);
    if (options.timeoutMs !== undefined) {
      const status = local(
        StatusCode.DEADLINE_EXCEEDED,
        `deadline of ${options.timeoutMs} ms exceeded`,
      );
      this.#deadlineTimer = timers.schedule(timerDelayMs(options.timeoutMs), () =>
        this.cut(status, local(StatusCode.CANCELLED, 'deadline of the caller exceeded')),
      );
    }
  }

  get isOver(): boolean {
    return this.#clientListener === undefined && (this.#serverEnded || this.#cut);
  }

  /** Calls `callback` when nothing more happens on the stream. */
  whenOver(callback: () => void): void {
    if (this.isOver) callback();
    else this.#onOver.push(callback);
  }

  /** The server takes the stream. */
  accept(
    limits: TransportLimits,
    makeListener: (stream: ServerStream) => StreamListener,
    onHandlerError: (error: Error) => void,
  ): void {
    if (this.#cut) return;
    this.#serverLimits = limits;
    this.#onHandlerError = onHandlerError;
    this.#toClient.open();
    try {
      this.#serverListener = makeListener(this.server);
    } catch (error) {
      this.#failHandler(error);
      return;
    }
    if (!this.#serverEnded) this.#toServer.open();
    else this.#serverListener = undefined;
  }

  /** Ends the stream at once at both ends, each with its own status; call from a fresh turn. */
  cut(clientStatus: RpcStatus, serverStatus: RpcStatus): void {
    if (this.isOver) return;
    this.#stop();
    const client = this.#clientListener;
    const server = this.#serverListener;
    this.#clientListener = undefined;
    this.#serverListener = undefined;
    client?.onEnd(clientStatus);
    server?.onEnd(serverStatus);
    this.#reportOver();
  }

  #stop(): void {
    this.#cut = true;
    this.#toServer.stop();
    this.#toClient.stop();
    this.#deadlineTimer?.cancel();
  }

  #reportOver(): void {
    if (!this.isOver) return;
    this.#deadlineTimer?.cancel();
    this.#toServer.stop();
    for (const callback of this.#onOver.splice(0)) callback();
  }

  #makeClient(): ClientStream {
    const pipe = this.#toServer;
    const reading = this.#toClient;
    return {
      get bufferedBytes() {
        return pipe.bufferedBytes;
      },
      send: (message) => this.#sendToServer(message),
      halfClose: () => {
        if (this.#halfClosed || this.#cut) return;
        this.#halfClosed = true;
        pipe.push({ kind: 'halfClose' });
      },
      cancel: () => this.#abort(local(StatusCode.CANCELLED, 'cancelled by this end')),
      pause: () => reading.pause(),
      resume: () => reading.resume(),
    };
  }

  #makeServer(peer: PeerIdentity): ServerStream {
    const pipe = this.#toClient;
    const reading = this.#toServer;
    return {
      peer,
      get bufferedBytes() {
        return pipe.bufferedBytes;
      },
      send: (message) => this.#sendToClient(message),
      end: (status) => {
        this.#endServer(status);
        this.#serverListener = undefined;
      },
      pause: () => reading.pause(),
      resume: () => reading.resume(),
    };
  }

  #sendToServer(message: OutgoingMessage): boolean {
    if (this.#halfClosed || this.#cut || this.#serverEnded) return true;
    const bytes = joined(message);
    const refusal = tooLarge(bytes.length, this.#clientLimits.maxOutboundMessageBytes, 'sending ');
    if (refusal === undefined) return this.#toServer.push({ kind: 'message', bytes });
    this.#halfClosed = true;
    this.#abort(refusal);
    return true;
  }

  #sendToClient(message: OutgoingMessage): boolean {
    if (this.#serverEnded || this.#cut) return true;
    const bytes = joined(message);
    const refusal = tooLarge(bytes.length, this.#serverLimits.maxOutboundMessageBytes, 'sending ');
    if (refusal === undefined) return this.#toClient.push({ kind: 'message', bytes });
    this.#endServer(refusal);
    this.#runtime.timers.enqueue(() => this.#tellServerEnd(refusal));
    return true;
  }

  /** The client gives up: both ends hear of it in a fresh turn, and nothing comes before. */
  #abort(status: RpcStatus): void {
    if (this.#cut || this.#clientListener === undefined) return;
    this.#stop();
    this.#runtime.timers.enqueue(() =>
      this.cut(status, local(StatusCode.CANCELLED, 'cancelled by the peer')),
    );
  }

  #endServer(status: RpcStatus): void {
    if (this.#serverEnded || this.#cut) return;
    this.#serverEnded = true;
    this.#toServer.stop();
    const { code, message, metadata } = status;
    this.#toClient.push({ kind: 'end', status: { code, message, metadata } });
  }

  #tellServerEnd(status: RpcStatus): void {
    const listener = this.#serverListener;
    this.#serverListener = undefined;
    listener?.onEnd(status);
  }

  #onServerItem(item: PipeItem): void {
    if (item.kind === 'halfClose') this.#guardServer((to) => to.onHalfClose?.());
    if (item.kind !== 'message') return;
    const refusal = tooLarge(item.bytes.length, this.#serverLimits.maxInboundMessageBytes, '');
    if (refusal === undefined) {
      this.#guardServer((to) => to.onMessage(item.bytes));
      return;
    }
    this.#endServer(refusal);
    this.#tellServerEnd(refusal);
  }

  #onClientItem(item: PipeItem): void {
    if (item.kind === 'end') {
      const listener = this.#clientListener;
      this.#clientListener = undefined;
      this.#toClient.stop();
      listener?.onEnd(item.status);
      this.#reportOver();
      return;
    }
    if (item.kind !== 'message') return;
    const refusal = tooLarge(item.bytes.length, this.#clientLimits.maxInboundMessageBytes, '');
    if (refusal === undefined) this.#guardClient((to) => to.onMessage(item.bytes));
    else this.cut(refusal, local(StatusCode.CANCELLED, 'cancelled by the peer'));
  }

  #guardClient(callback: (listener: StreamListener) => void): void {
    if (this.#clientListener === undefined || this.#cut) return;
    try {
      callback(this.#clientListener);
    } catch (error) {
      const text = 'the listener of the stream failed';
      this.#abort({ ...local(StatusCode.INTERNAL, text), cause: toError(error) });
    }
  }

  #guardServer(callback: (listener: StreamListener) => void): void {
    if (this.#serverListener === undefined || this.#cut) return;
    try {
      callback(this.#serverListener);
    } catch (error) {
      this.#failHandler(error);
    }
  }

  /** As in Java, an exception of a handler ends its stream (spec: wire-grpc 4.5). */
  #failHandler(error: unknown): void {
    this.#onHandlerError?.(toError(error));
    const status = local(StatusCode.UNKNOWN, 'Application error processing RPC');
    this.#endServer(status);
    this.#tellServerEnd(status);
  }
}

/** A status that is made here. */
export function local(code: StatusCode, message: string): RpcStatus {
  return { code, message, metadata: {} };
}

function tooLarge(size: number, limit: number, kind: string): RpcStatus | undefined {
  if (size <= limit) return undefined;
  const text = `message of ${size} bytes is larger than the ${kind}limit of ${limit}`;
  return local(StatusCode.RESOURCE_EXHAUSTED, text);
}

/** A copy in one piece: the bytes belong to the receiver. */
function joined(message: OutgoingMessage): Uint8Array {
  if (message instanceof Uint8Array) return new Uint8Array(message);
  const bytes = new Uint8Array(message.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of message) {
    bytes.set(part, offset);
    offset += part.length;
  }
  return bytes;
}
