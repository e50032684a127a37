import type { RaftPeer } from '../protocol/peer.js';
import { PeerStubs } from '../rpc/ratis/server/peer-stubs.js';
import type { ChannelOptions, RpcTransport } from '../rpc/transport.js';

/** Connections to other servers, by address, shared by all divisions of a server. */
export class PeerConnections {
  readonly #transport: RpcTransport;
  readonly #options: ChannelOptions;
  readonly #settings: { readonly heartbeatChannel: boolean; readonly requestTimeoutMs: number };
  readonly #byAddress = new Map<string, PeerStubs>();
  #closed = false;

  constructor(
    transport: RpcTransport,
    options: ChannelOptions,
    settings: { readonly heartbeatChannel: boolean; readonly requestTimeoutMs: number },
  ) {
    this.#transport = transport;
    this.#options = options;
    this.#settings = settings;
  }

  /** Undefined for a peer without an address, and after the close. */
  stubsOf(peer: RaftPeer): PeerStubs | undefined {
    if (peer.address === '' || this.#closed) return undefined;
    let stubs = this.#byAddress.get(peer.address);
    if (stubs === undefined) {
      stubs = new PeerStubs(this.#transport, peer.address, this.#options, this.#settings);
      this.#byAddress.set(peer.address, stubs);
    }
    return stubs;
  }

  close(graceMs: number): void {
    this.#closed = true;
    for (const stubs of this.#byAddress.values()) stubs.close(graceMs);
    this.#byAddress.clear();
  }
}
