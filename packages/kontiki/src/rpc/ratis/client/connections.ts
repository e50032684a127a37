import { InvalidArgumentError } from '../../../common/errors.js';
import type { Runtime } from '../../../common/runtime.js';
import { AlreadyClosedException } from '../../../protocol/exceptions.js';
import type { RaftPeerId } from '../../../protocol/ids.js';
import type { RaftPeer } from '../../../protocol/peer.js';
import { type ConnectionOptions, PeerConnection } from './peer-connection.js';
import { isConnectionLoss } from './status-error.js';

/** Growth of the pause before the next attempt at a peer that cannot be reached. */
const BACKOFF_FACTOR = 1.6;

interface Entry {
  connection: PeerConnection;
  /** Attempts in a row that found no connection. */
  failures: number;
  notBeforeMs: number;
}

/**
 * The servers that a client knows, each with its connection (spec: client 4.3). The first addresses
 * of a peer stay (spec: wire-grpc 2.6). A reset gives a fresh connection without the transport's
 * back-off; how often unreachable peers are tried is paced here instead, because it must outlive
 * resets.
 */
export class Connections {
  readonly #options: ConnectionOptions;
  readonly #runtime: Runtime;
  readonly #entries = new Map<RaftPeerId, Entry>();
  readonly #closing = new Set<PeerConnection>();
  #closed = false;
  #onEmpty: (() => void) | undefined;

  constructor(options: ConnectionOptions, runtime: Runtime) {
    this.#options = options;
    this.#runtime = runtime;
  }

  /** Adds the peers that are not known yet. */
  addPeers(peers: readonly RaftPeer[]): void {
    for (const peer of peers) {
      if (this.#entries.has(peer.id)) continue;
      this.#entries.set(peer.id, {
        connection: this.#createConnection(peer),
        failures: 0,
        notBeforeMs: Number.NEGATIVE_INFINITY,
      });
    }
  }

  has(id: RaftPeerId): boolean {
    return this.#entries.has(id);
  }

  /**
   * Throws AlreadyClosedException after close, InvalidArgumentError for a server that is not known.
   */
  get(id: RaftPeerId): PeerConnection {
    if (this.#closed) throw new AlreadyClosedException('the client is closed');
    const entry = this.#entries.get(id);
    if (entry === undefined) {
      const known = [...this.#entries.keys()].join(', ');
      throw new InvalidArgumentError(`Server ${id} not found: peers=[${known}]`);
    }
    return entry.connection;
  }

  /** Closes the connection to `id` and puts a fresh one in its place. */
  reset(id: RaftPeerId): void {
    const entry = this.#entries.get(id);
    if (entry === undefined || this.#closed || entry.connection.isUnused) return;
    const old = entry.connection;
    entry.connection = this.#createConnection(old.peer);
    this.#closing.add(old);
    // Not at once: the caller may stand in the middle of handling a failure of one of its streams.
    this.#runtime.timers.enqueue(() => this.#close(old, 0));
  }

  /** Milliseconds until the next attempt at `id` makes sense; 0 while it answers. */
  backoffMs(id: RaftPeerId): number {
    const entry = this.#entries.get(id);
    if (entry === undefined) return 0;
    return Math.max(0, entry.notBeforeMs - this.#runtime.clock.nowMs());
  }

  /** Ends everything; `done` is called when no socket is left. */
  close(graceMs: number, done: () => void): void {
    this.#closed = true;
    this.#onEmpty = done;
    const open = [...this.#entries.values()].map((entry) => entry.connection);
    for (const connection of open) this.#closing.add(connection);
    for (const connection of open) this.#close(connection, graceMs);
    this.#reportEmpty();
  }

  #close(connection: PeerConnection, graceMs: number): void {
    connection.close(graceMs, () => {
      this.#closing.delete(connection);
      this.#reportEmpty();
    });
  }

  #reportEmpty(): void {
    if (!this.#closed || this.#closing.size > 0) return;
    const onEmpty = this.#onEmpty;
    this.#onEmpty = undefined;
    onEmpty?.();
  }

  #createConnection(peer: RaftPeer): PeerConnection {
    return new PeerConnection(peer, this.#options, {
      onAlive: () => {
        const entry = this.#entries.get(peer.id);
        if (entry === undefined) return;
        entry.failures = 0;
        entry.notBeforeMs = Number.NEGATIVE_INFINITY;
      },
      onLost: (status) => {
        const entry = this.#entries.get(peer.id);
        if (entry === undefined || !isConnectionLoss(status)) return;
        const nowMs = this.#runtime.clock.nowMs();
        if (nowMs < entry.notBeforeMs) return; // one lost attempt ends many streams
        const { reconnectBackoffMinMs: min, reconnectBackoffMaxMs: max } =
          this.#options.client.limits;
        entry.notBeforeMs = nowMs + Math.min(max, min * BACKOFF_FACTOR ** entry.failures);
        entry.failures++;
      },
    });
  }
}
