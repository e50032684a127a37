import type { Runtime } from '../../common/runtime.js';
import {
  type CallOptions,
  type ChannelOptions,
  type ChannelState,
  type ClientStream,
  type OutgoingMessage,
  type PeerIdentity,
  type PendingCall,
  type RpcChannel,
  type RpcStatus,
  StatusCode,
  type StreamListener,
} from '../transport.js';
import { UnaryCallListener } from '../unary.js';
import type { MemoryNetwork } from './network.js';
import { local, MemoryStream } from './stream.js';
import { StreamSet } from './stream-set.js';

/**
 * A channel to an address of a MemoryNetwork. There is no connection that could be lost: it is
 * ready while a server listens.
 */
export class MemoryChannel implements RpcChannel {
  readonly target: string;
  readonly #network: MemoryNetwork;
  readonly #options: ChannelOptions;
  readonly #runtime: Runtime;
  readonly #streams: StreamSet;
  readonly #peer: PeerIdentity;
  #used = false;
  #closed = false;
  #done = false;
  readonly #onDone: (() => void)[] = [];

  constructor(target: string, options: ChannelOptions, network: MemoryNetwork, runtime: Runtime) {
    this.target = target;
    this.#network = network;
    this.#options = options;
    this.#runtime = runtime;
    this.#streams = new StreamSet(runtime.timers);
    this.#peer = { remoteAddress: network.nextClientAddress(), certificateNames: [] };
  }

  get state(): ChannelState {
    if (this.#closed) return 'closed';
    return this.#used && this.#network.find(this.target) !== undefined ? 'ready' : 'idle';
  }

  openStream(path: string, listener: StreamListener, options: CallOptions = {}): ClientStream {
    this.#used = true;
    const { limits } = this.#options;
    const stream = new MemoryStream(this.#runtime, limits, listener, options, this.#peer);
    if (this.#closed) this.#refuseLater(stream, 'channel closed');
    else {
      this.#streams.add(stream);
      this.#runtime.timers.defer(() => this.#connect(stream, path, options.timeoutMs));
    }
    return stream.client;
  }

  call(
    path: string,
    request: OutgoingMessage,
    options: CallOptions,
    callback: (status: RpcStatus, reply: Uint8Array | undefined) => void,
  ): PendingCall {
    const call = new UnaryCallListener(callback);
    call.start(this.openStream(path, call, options), request);
    return call;
  }

  resetBackoff(): void {
    // There is no back-off: every use looks the address up.
  }

  close(graceMs: number, done?: () => void): void {
    this.#closed = true;
    if (done !== undefined) {
      if (this.#done) this.#runtime.timers.enqueue(done);
      else this.#onDone.push(done);
    }
    if (this.#done) return;
    this.#streams.close(graceMs, `${this.target}: channel closed`, () => {
      this.#done = true;
      for (const callback of this.#onDone.splice(0)) callback();
    });
  }

  #connect(stream: MemoryStream, path: string, timeoutMs: number | undefined): void {
    const server = this.#network.find(this.target);
    if (server === undefined) this.#refuse(stream, 'connect failed: nobody listens');
    else server.take(stream, path, timeoutMs);
  }

  #refuseLater(stream: MemoryStream, reason: string): void {
    this.#runtime.timers.enqueue(() => this.#refuse(stream, reason));
  }

  #refuse(stream: MemoryStream, reason: string): void {
    const status = {
      ...local(StatusCode.UNAVAILABLE, `${this.target}: ${reason}`),
      cause: new Error(reason),
    };
    stream.cut(status, status);
  }
}
