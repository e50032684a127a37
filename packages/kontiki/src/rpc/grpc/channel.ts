import type { SecureContext } from 'node:tls';
import type { Runtime, Timer } from '../../common/runtime.js';
import type {
  CallOptions,
  ChannelOptions,
  ChannelState,
  ClientStream,
  OutgoingMessage,
  PendingCall,
  RpcChannel,
  RpcStatus,
  StreamListener,
  TlsOptions,
} from '../transport.js';
import { UnaryCallListener } from '../unary.js';
import { type ClientStreamContext, GrpcClientStream } from './client-stream.js';
import { ConnectionSlot } from './connection-slot.js';
import { parseTarget } from './target.js';
import { clientSecureContext } from './tls.js';

/** The order in which the states of the two connections show in the channel's. */
const STATE_ORDER: readonly ChannelState[] = ['closed', 'ready', 'connecting', 'backoff', 'idle'];

/**
 * A channel to one address. Streams share one connection, unary calls another (each opened when
 * first used), because Node 20 servers end a connection after about 1,000 streams that the peer
 * reset, and cancelled calls are common (design: section 4).
 */
export class GrpcChannel implements RpcChannel {
  readonly target: string;
  readonly #context: ClientStreamContext;
  readonly #streams: ConnectionSlot;
  readonly #calls: ConnectionSlot;
  readonly #runtime: Runtime;
  #secureContext: SecureContext | undefined;
  #cutTimer: Timer | undefined;
  #closed = false;
  #gone = false;
  readonly #onGone: (() => void)[] = [];

  /**
   * Throws InvalidArgumentError for a bad target, TlsConfigurationError for an unusable TLS slot.
   */
  constructor(target: string, options: ChannelOptions, runtime: Runtime) {
    const parsed = parseTarget(target);
    this.target = target;
    this.#runtime = runtime;
    this.#secureContext = options.tls === undefined ? undefined : clientSecureContext(options.tls);
    const scheme = options.tls === undefined ? 'http' : 'https';
    this.#context = { target, scheme, limits: options.limits, runtime };
    const slotOptions = { name: target, target: parsed, limits: options.limits, runtime };
    this.#streams = new ConnectionSlot(slotOptions, () => this.#secureContext);
    this.#calls = new ConnectionSlot(slotOptions, () => this.#secureContext);
  }

  get state(): ChannelState {
    const states = [this.#streams.state, this.#calls.state];
    return STATE_ORDER.find((state) => states.includes(state)) ?? 'idle';
  }

  openStream(path: string, listener: StreamListener, options: CallOptions = {}): ClientStream {
    const stream = new GrpcClientStream(this.#context, path, listener, options);
    this.#streams.start(stream);
    return stream;
  }

  call(
    path: string,
    request: OutgoingMessage,
    options: CallOptions,
    callback: (status: RpcStatus, reply: Uint8Array | undefined) => void,
  ): PendingCall {
    const call = new UnaryCallListener(callback);
    const stream = new GrpcClientStream(this.#context, path, call, options);
    call.start(stream, request);
    this.#calls.start(stream);
    return call;
  }

  resetBackoff(): void {
    this.#streams.resetBackoff();
    this.#calls.resetBackoff();
  }

  /**
   * New connections use other certificates; those that are open keep theirs. Throws
   * TlsConfigurationError.
   */
  updateTls(tls: TlsOptions): void {
    this.#secureContext = clientSecureContext(tls);
  }

  close(graceMs: number, done?: () => void): void {
    if (done !== undefined) {
      if (this.#gone) this.#runtime.timers.enqueue(done);
      else this.#onGone.push(done);
    }
    if (this.#gone) return;
    this.#cut(graceMs);
    if (this.#closed) return;
    this.#closed = true;
    let open = 2;
    const onEmpty = () => {
      open--;
      if (open === 0) this.#onAllGone();
    };
    this.#streams.close(onEmpty);
    this.#calls.close(onEmpty);
  }

  #onAllGone(): void {
    this.#gone = true;
    this.#cutTimer?.cancel();
    for (const done of this.#onGone.splice(0)) this.#runtime.timers.enqueue(done);
  }

  #cut(graceMs: number): void {
    this.#cutTimer?.cancel();
    this.#cutTimer = this.#runtime.timers.schedule(Math.max(0, graceMs), () => {
      this.#streams.destroy();
      this.#calls.destroy();
    });
  }
}
