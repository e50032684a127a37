import type { Runtime } from '../common/runtime.js';
import type { RaftGroupId, RaftPeerId } from '../protocol/ids.js';

/** An entry is dropped so long after its last use. */
const EXPIRY_MS = 60_000;
const MAX_ENTRIES = 1024;

interface Entry {
  readonly leaderId: RaftPeerId;
  usedMs: number;
}

/**
 * Leaders that clients of one process have seen, by group: the first guess of the next client
 * (spec: client 6).
 */
export class LeaderCache {
  readonly #runtime: Runtime;
  /** Least recently used first. */
  readonly #entries = new Map<string, Entry>();

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  get(groupId: RaftGroupId): RaftPeerId | undefined {
    const entry = this.#entries.get(groupId.uuid);
    if (entry === undefined) return undefined;
    const nowMs = this.#runtime.clock.nowMs();
    this.#entries.delete(groupId.uuid);
    if (nowMs - entry.usedMs >= EXPIRY_MS) return undefined;
    entry.usedMs = nowMs;
    this.#entries.set(groupId.uuid, entry);
    return entry.leaderId;
  }

  put(groupId: RaftGroupId, leaderId: RaftPeerId): void {
    this.#entries.delete(groupId.uuid);
    this.#entries.set(groupId.uuid, { leaderId, usedMs: this.#runtime.clock.nowMs() });
    if (this.#entries.size <= MAX_ENTRIES) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }
}

const caches = new WeakMap<Runtime, LeaderCache>();

/** The cache of `runtime`: one for the whole process in production. */
export function leaderCacheOf(runtime: Runtime): LeaderCache {
  let cache = caches.get(runtime);
  if (cache === undefined) {
    cache = new LeaderCache(runtime);
    caches.set(runtime, cache);
  }
  return cache;
}
