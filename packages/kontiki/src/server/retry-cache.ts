import type { CallId } from '../protocol/ids.js';
import { type RecordAddress, RetryRecords, type WriteOutcome } from './retry-records.js';

/** Numbers for metrics (spec: R-7). */
export interface RetryCacheStatistics {
  readonly size: number;
  readonly hits: number;
  readonly misses: number;
}

/** What the cache knows of a call: an outcome, a write under way, or nothing. */
export type RetryLookup<P> =
  | { readonly kind: 'absent' }
  | { readonly kind: 'pending'; readonly pending: P }
  | { readonly kind: 'done'; readonly outcome: WriteOutcome };

interface ClientCalls<P> {
  readonly key: string;
  readonly number: number;
  readonly id: Uint8Array;
  readonly calls: Map<CallId, RecordAddress | P>;
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < 16; i++) if (a[i] !== b[i]) return false;
  return true;
}

const ABSENT = { kind: 'absent' } as const;

/** 16 id bytes as a short text that is cheap to make. */
function keyOf(id: Uint8Array): string {
  const word = (at: number) => ((id[at] ?? 0) << 8) | (id[at + 1] ?? 0);
  return String.fromCharCode(
    word(0),
    word(2),
    word(4),
    word(6),
    word(8),
    word(10),
    word(12),
    word(14),
  );
}

/**
 * Outcomes of writes by client id and call id, so that a retry is answered and not applied again
 * (spec: ). A call whose write was not appended, or was cut from the log, is simply
 * forgotten: the next try makes a new entry (spec: ). `P` is what stands for a write under
 * way.
 */
export class RetryCache<P extends object> {
  readonly #expiryMs: number;
  readonly #records: RetryRecords;
  readonly #clients = new Map<string, ClientCalls<P>>();
  readonly #byNumber = new Map<number, ClientCalls<P>>();
  /** The client of the last call: most often that of the next one, too. */
  #recent: ClientCalls<P> | undefined;
  #nextNumber = 0;
  #nextExpiryMs = 0;
  #size = 0;
  #hits = 0;
  #misses = 0;

  constructor(expiryMs: number) {
    this.#expiryMs = expiryMs;
    this.#records = new RetryRecords(expiryMs);
  }

  get statistics(): RetryCacheStatistics {
    return { size: this.#size, hits: this.#hits, misses: this.#misses };
  }

  /** Bytes that the outcomes take. */
  get recordBytes(): number {
    return this.#records.sizeBytes;
  }

  query(clientId: Uint8Array, callId: CallId): RetryLookup<P> {
    const found = this.#find(clientId)?.calls.get(callId);
    if (typeof found === 'number') {
      const outcome = this.#records.read(found);
      if (outcome !== undefined) {
        this.#hits++;
        return { kind: 'done', outcome };
      }
    } else if (found !== undefined) {
      this.#hits++;
      return { kind: 'pending', pending: found };
    }
    this.#misses++;
    return ABSENT;
  }

  /** A write starts. */
  setPending(clientId: Uint8Array, callId: CallId, pending: P): void {
    this.#set(this.#client(clientId), callId, pending);
  }

  /**
   * The write was not appended, or was cut: a retry makes a new entry. Nothing happens when another
   * one took its place.
   */
  fail(clientId: Uint8Array, callId: CallId, pending: P): void {
    const client = this.#find(clientId);
    if (client?.calls.get(callId) === pending) this.#remove(client, callId);
  }

  /**
   * The entry was applied; returns the write under way that stood for it. Done already: nothing
   * changes (spec: ).
   */
  complete(
    clientId: Uint8Array,
    callId: CallId,
    outcome: WriteOutcome,
    nowMs: number,
  ): P | undefined {
    const client = this.#client(clientId);
    const found = client.calls.get(callId);
    if (typeof found === 'number' && this.#records.read(found) !== undefined) return undefined;
    if (nowMs >= this.#nextExpiryMs) this.expire(nowMs);
    this.#set(client, callId, this.#records.write(client.number, callId, outcome, nowMs));
    return typeof found === 'object' ? found : undefined;
  }

  /** The client has these replies (spec: R-6). */
  forget(clientId: Uint8Array, callIds: readonly CallId[]): void {
    if (callIds.length === 0) return;
    const client = this.#find(clientId);
    if (client === undefined) return;
    for (const callId of callIds) {
      const found = client.calls.get(callId);
      if (typeof found !== 'number') continue;
      this.#records.forget(found);
      this.#remove(client, callId);
    }
  }

  /**
   * Drops what was completed longer than the expiry time ago; outcomes live at most one eighth of
   * it longer.
   */
  expire(nowMs: number): void {
    this.#nextExpiryMs = nowMs + this.#expiryMs / 8;
    this.#records.expire(nowMs - this.#expiryMs, (number, callId, address) => {
      const client = this.#byNumber.get(number);
      if (client?.calls.get(callId) === address) this.#remove(client, callId);
    });
  }

  #find(clientId: Uint8Array): ClientCalls<P> | undefined {
    const recent = this.#recent;
    if (recent !== undefined && isSame(recent.id, clientId)) return recent;
    const client = this.#clients.get(keyOf(clientId));
    if (client !== undefined) this.#recent = client;
    return client;
  }

  #client(clientId: Uint8Array): ClientCalls<P> {
    let client = this.#find(clientId);
    if (client === undefined) {
      const key = keyOf(clientId);
      client = { key, number: this.#nextNumber++, id: clientId.slice(), calls: new Map() };
      this.#clients.set(key, client);
      this.#byNumber.set(client.number, client);
      this.#recent = client;
    }
    return client;
  }

  #set(client: ClientCalls<P>, callId: CallId, value: RecordAddress | P): void {
    const before = client.calls.size;
    client.calls.set(callId, value);
    this.#size += client.calls.size - before;
    // The client may just have lost its last call to an expiry.
    if (before === 0) {
      this.#clients.set(client.key, client);
      this.#byNumber.set(client.number, client);
    }
  }

  #remove(client: ClientCalls<P>, callId: CallId): void {
    if (!client.calls.delete(callId)) return;
    this.#size--;
    if (client.calls.size > 0) return;
    this.#clients.delete(client.key);
    if (this.#recent === client) this.#recent = undefined;
    this.#byNumber.delete(client.number);
  }
}
