import {
  type CallOptions,
  type ChannelOptions,
  type ChannelState,
  type ClientStream,
  type OutgoingMessage,
  type PendingCall,
  type RpcChannel,
  type RpcServer,
  type RpcStatus,
  type RpcTransport,
  type ServerOptions,
  StatusCode,
  type StreamListener,
} from '../rpc/transport.js';

const CUT: RpcStatus = {
  code: StatusCode.UNAVAILABLE,
  message: 'the link is cut',
  metadata: {},
  cause: new Error('the link is cut'),
};

type Callback = (status: RpcStatus, reply: Uint8Array | undefined) => void;

/**
 * A transport whose links can be cut and mended, for tests: what goes over a cut link fails with
 * UNAVAILABLE.
 */
export class CuttableTransport implements RpcTransport {
  readonly #inner: RpcTransport;
  readonly #channels = new Set<CuttableChannel>();
  readonly #cutTargets = new Set<string>();

  constructor(inner: RpcTransport) {
    this.#inner = inner;
  }

  createChannel(target: string, options: ChannelOptions): RpcChannel {
    const channel = new CuttableChannel(
      this.#inner.createChannel(target, options),
      () => this.#cutTargets.has(target),
      (closed) => this.#channels.delete(closed),
    );
    this.#channels.add(channel);
    return channel;
  }

  createServer(options: ServerOptions): RpcServer {
    return this.#inner.createServer(options);
  }

  /** Breaks the way to `target` (`host:port`): open streams and calls fail, and so do new ones. */
  cut(target: string): void {
    this.#cutTargets.add(target);
    for (const channel of this.#channels) if (channel.target === target) channel.breakAll();
  }

  mend(target: string): void {
    this.#cutTargets.delete(target);
  }
}

class CuttableChannel implements RpcChannel {
  readonly #inner: RpcChannel;
  readonly #isCut: () => boolean;
  readonly #closed: (channel: CuttableChannel) => void;
  readonly #open = new Set<() => void>();

  constructor(inner: RpcChannel, isCut: () => boolean, closed: (channel: CuttableChannel) => void) {
    this.#inner = inner;
    this.#isCut = isCut;
    this.#closed = closed;
  }

  get target(): string {
    return this.#inner.target;
  }

  get state(): ChannelState {
    return this.#inner.state;
  }

  openStream(path: string, listener: StreamListener, options?: CallOptions): ClientStream {
    if (this.#isCut()) {
      queueMicrotask(() => listener.onEnd(CUT));
      return new DeadStream();
    }
    let over = false;
    const end = (status: RpcStatus) => {
      if (over) return;
      over = true;
      this.#open.delete(breakStream);
      listener.onEnd(status);
    };
    const stream = this.#inner.openStream(
      path,
      {
        onMessage: (message) => {
          if (!over) listener.onMessage(message);
        },
        onDrain: () => {
          if (!over) listener.onDrain?.();
        },
        onEnd: end,
      },
      options,
    );
    const breakStream = () => {
      stream.cancel();
      queueMicrotask(() => end(CUT));
    };
    this.#open.add(breakStream);
    return stream;
  }

  call(
    path: string,
    request: OutgoingMessage,
    options: CallOptions,
    callback: Callback,
  ): PendingCall {
    if (this.#isCut()) {
      queueMicrotask(() => callback(CUT, undefined));
      return { cancel: () => undefined };
    }
    let over = false;
    const done: Callback = (status, reply) => {
      if (over) return;
      over = true;
      this.#open.delete(breakCall);
      callback(status, reply);
    };
    const call = this.#inner.call(path, request, options, done);
    const breakCall = () => {
      queueMicrotask(() => done(CUT, undefined));
    };
    this.#open.add(breakCall);
    return call;
  }

  resetBackoff(): void {
    this.#inner.resetBackoff();
  }

  close(graceMs: number, done?: () => void): void {
    this.#closed(this);
    this.#inner.close(graceMs, done);
  }

  breakAll(): void {
    for (const breakOne of [...this.#open]) breakOne();
  }
}

/** A stream that was never there. */
class DeadStream implements ClientStream {
  readonly bufferedBytes = 0;

  send(): boolean {
    return true;
  }

  halfClose(): void {}
  cancel(): void {}
  pause(): void {}
  resume(): void {}
}
