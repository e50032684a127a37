import { AlreadyClosedException, type RaftException } from '../../../protocol/exceptions.js';
import { adminAddressOf, clientAddressOf, type RaftPeer } from '../../../protocol/peer.js';
import {
  type ChannelOptions,
  type PendingCall,
  type RpcChannel,
  type RpcStatus,
  type RpcTransport,
  StatusCode,
} from '../../transport.js';
import { ORDERED_PATH, UNORDERED_PATH } from './method-paths.js';
import { RequestStream, type RequestStreamListener, type StreamOwner } from './request-stream.js';
import { failureOf } from './status-error.js';

export interface ConnectionOptions {
  readonly transport: RpcTransport;
  readonly client: ChannelOptions;
  readonly admin: ChannelOptions;
}

/** How an exchange with the peer went, for its back-off. */
export interface HealthListener {
  onAlive(): void;
  onLost(status: RpcStatus): void;
}

/** Takes the outcome of one call: exactly one of the arguments is defined. */
export type CallOutcome = (error: RaftException | undefined, reply: Uint8Array | undefined) => void;

/**
 * The client's connection to one server: a channel for requests and one for admin calls, which are
 * the same channel (and TLS slot) when the addresses are equal (spec: wire-grpc 2.6, 9.2). Channels
 * are made on first use.
 */
export class PeerConnection implements StreamOwner {
  readonly peer: RaftPeer;
  readonly #options: ConnectionOptions;
  readonly #health: HealthListener;
  readonly #streams = new Set<RequestStream>();
  readonly #calls = new Set<PendingCall>();
  #client: RpcChannel | undefined;
  #admin: RpcChannel | undefined;
  #closed = false;

  constructor(peer: RaftPeer, options: ConnectionOptions, health: HealthListener) {
    this.peer = peer;
    this.#options = options;
    this.#health = health;
  }

  /** Nothing was opened yet: there is nothing to reset. */
  get isUnused(): boolean {
    return this.#client === undefined && this.#admin === undefined;
  }

  /**
   * Opens an `ordered` or `unordered` stream. Throws what the transport says of a bad address or
   * TLS slot.
   */
  openStream(kind: 'ordered' | 'unordered', listener: RequestStreamListener): RequestStream {
    const path = kind === 'ordered' ? ORDERED_PATH : UNORDERED_PATH;
    const stream = new RequestStream(this.#clientChannel(), path, this, listener);
    this.#streams.add(stream);
    return stream;
  }

  /**
   * One request on an `unordered` stream of its own: the path of blocking calls (spec: client 4.1).
   */
  callOnce(request: Uint8Array, timeoutMs: number, outcome: CallOutcome): PendingCall {
    const channel = this.#clientChannel();
    let over = false;
    const finish = (status: RpcStatus | undefined, reply: Uint8Array | undefined) => {
      if (over) return;
      over = true;
      this.#calls.delete(stream);
      this.#settle(channel, status, reply, outcome);
    };
    const stream = channel.openStream(
      UNORDERED_PATH,
      {
        onMessage: (message) => finish(undefined, message),
        onEnd: (status) => finish(status, undefined),
      },
      { timeoutMs },
    );
    this.#calls.add(stream);
    stream.send(request);
    stream.halfClose();
    return stream;
  }

  /** One unary admin call (spec: wire-grpc 8). */
  callAdmin(
    path: string,
    request: Uint8Array,
    timeoutMs: number,
    outcome: CallOutcome,
  ): PendingCall {
    const channel = this.#adminChannel();
    const call: PendingCall = channel.call(path, request, { timeoutMs }, (status, reply) => {
      this.#calls.delete(call);
      this.#settle(channel, reply === undefined ? status : undefined, reply, outcome);
    });
    this.#calls.add(call);
    return call;
  }

  onAlive(): void {
    this.#health.onAlive();
  }

  onStreamOver(stream: RequestStream, status: RpcStatus | undefined): void {
    this.#streams.delete(stream);
    if (status !== undefined && status.code !== StatusCode.OK) this.#health.onLost(status);
  }

  /**
   * Streams and calls fail with AlreadyClosedException, then the sockets go. `done` is called when
   * they are gone.
   */
  close(graceMs: number, done: () => void): void {
    this.#closed = true;
    for (const stream of [...this.#streams]) {
      stream.fail(new AlreadyClosedException(`connection to ${this.peer.id} is closed`));
    }
    for (const call of [...this.#calls]) call.cancel();
    const channels = [...new Set([this.#client, this.#admin])].filter((c) => c !== undefined);
    let open = channels.length;
    if (open === 0) done();
    for (const channel of channels) {
      channel.close(graceMs, () => {
        open--;
        if (open === 0) done();
      });
    }
  }

  #settle(
    channel: RpcChannel,
    status: RpcStatus | undefined,
    reply: Uint8Array | undefined,
    outcome: CallOutcome,
  ): void {
    if (reply !== undefined) {
      this.#health.onAlive();
      outcome(undefined, reply);
      return;
    }
    if (status !== undefined && status.code !== StatusCode.OK && !this.#closed) {
      this.#health.onLost(status);
      outcome(failureOf(status, channel.target), undefined);
      return;
    }
    const text = `${channel.target} ended the call without an answer`;
    outcome(new AlreadyClosedException(text), undefined);
  }

  #clientChannel(): RpcChannel {
    this.#requireOpen();
    const address = clientAddressOf(this.peer);
    this.#client ??= this.#options.transport.createChannel(address, this.#options.client);
    return this.#client;
  }

  #adminChannel(): RpcChannel {
    this.#requireOpen();
    const address = adminAddressOf(this.peer);
    if (address === clientAddressOf(this.peer)) return this.#clientChannel();
    this.#admin ??= this.#options.transport.createChannel(address, this.#options.admin);
    return this.#admin;
  }

  #requireOpen(): void {
    if (this.#closed) throw new AlreadyClosedException(`connection to ${this.peer.id} is closed`);
  }
}
