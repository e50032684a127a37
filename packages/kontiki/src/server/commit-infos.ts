import type { CommitInfoMessage } from '../proto/wire/types.js';
import { allPeers, type RaftConfiguration } from '../protocol/configuration.js';
import type { RaftPeerId } from '../protocol/ids.js';
import type { RaftPeer } from '../protocol/peer.js';
import type { CommitInfo } from '../protocol/requests.js';

/** Between peers and their serialized form. */
export interface PeerCodec {
  encode(peer: RaftPeer): Uint8Array;
  decode(bytes: Uint8Array): RaftPeer;
}

function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false;
  return true;
}

/**
 * The greatest commit index that was heard of each server (spec: consensus 3.10). The lists that
 * ride in messages are made anew only when a number changed, and are never changed once given out.
 */
export class CommitInfos {
  readonly #self: RaftPeerId;
  readonly #codec: PeerCodec;
  readonly #known = new Map<RaftPeerId, number>();
  #peers: readonly RaftPeer[] = [];
  #encoded: readonly Uint8Array[] = [];
  #list: readonly CommitInfo[] | undefined;
  #messages: readonly CommitInfoMessage[] | undefined;
  /** Serialized peers that were seen, by place in the message: they repeat in every one. */
  readonly #seen: { readonly bytes: Uint8Array; readonly id: RaftPeerId }[] = [];

  constructor(self: RaftPeerId, codec: PeerCodec) {
    this.#self = self;
    this.#codec = codec;
  }

  /** The members of the group, self first. */
  setConfiguration(configuration: RaftConfiguration): void {
    const all = allPeers(configuration);
    const self = all.filter((peer) => peer.id === this.#self);
    this.#peers = [...self, ...all.filter((peer) => peer.id !== this.#self)];
    this.#encoded = this.#peers.map((peer) => this.#codec.encode(peer));
    this.#changed();
  }

  /** Keeps the maximum. */
  update(id: RaftPeerId, commitIndex: number): void {
    if (commitIndex <= (this.#known.get(id) ?? -1)) return;
    this.#known.set(id, commitIndex);
    this.#changed();
  }

  /** Merges the list of a message. Throws what the decoder throws on a malformed peer. */
  merge(messages: readonly CommitInfoMessage[]): void {
    for (let i = 0; i < messages.length; i++) {
      const message = messages[i];
      if (message === undefined) continue;
      let seen = this.#seen[i];
      if (seen === undefined || !equalBytes(seen.bytes, message.server)) {
        seen = { bytes: message.server.slice(), id: this.#codec.decode(message.server).id };
        this.#seen[i] = seen;
      }
      this.update(seen.id, message.commitIndex);
    }
  }

  /** Commit index known of a server, -1 if none. */
  of(id: RaftPeerId): number {
    return this.#known.get(id) ?? -1;
  }

  /** The lowest commit index of all members; -1 while one is unknown (spec: consensus 5.1). */
  get minimum(): number {
    return this.#peers.reduce((min, peer) => Math.min(min, this.of(peer.id)), Infinity);
  }

  get list(): readonly CommitInfo[] {
    this.#list ??= this.#peers
      .filter((peer) => this.#isTold(peer))
      .map((server) => ({ server, commitIndex: this.of(server.id) }));
    return this.#list;
  }

  get messages(): readonly CommitInfoMessage[] {
    if (this.#messages === undefined) {
      const messages: CommitInfoMessage[] = [];
      this.#peers.forEach((peer, i) => {
        const server = this.#encoded[i];
        if (server === undefined || !this.#isTold(peer)) return;
        messages.push({ server, commitIndex: this.of(peer.id) });
      });
      this.#messages = messages;
    }
    return this.#messages;
  }

  #isTold(peer: RaftPeer): boolean {
    return peer.id === this.#self || this.#known.has(peer.id);
  }

  #changed(): void {
    this.#list = undefined;
    this.#messages = undefined;
  }
}
