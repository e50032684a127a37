import type { LogEntry } from '../proto/wire/types.js';
import { RaftPeerRole } from '../protocol/peer.js';
import type { PendingWrites } from './pending-write.js';
import { Transaction } from './transaction-context.js';

/**
 * Contexts of entries between append and apply (spec: consensus 6.1, S-5): the leader's own stand
 * with its pending writes, those of entries with state machine data are made when they are
 * appended, all others when they are applied.
 */
export class Transactions {
  readonly #pending: PendingWrites;
  readonly #withData = new Map<number, Transaction>();

  constructor(pending: PendingWrites) {
    this.#pending = pending;
  }

  /** For the data API; kept until the entry is applied. */
  forData(entry: LogEntry): Transaction {
    const known = this.#find(entry);
    if (known !== undefined) return known;
    const transaction = Transaction.ofEntry(RaftPeerRole.FOLLOWER, entry);
    this.#withData.set(entry.index, transaction);
    return transaction;
  }

  /** For the apply. */
  forApply(entry: LogEntry): Transaction {
    const known = this.#find(entry);
    if (known === undefined) return Transaction.ofEntry(RaftPeerRole.FOLLOWER, entry);
    this.#withData.delete(entry.index);
    return known;
  }

  /** Entries from `index` on are cut from the log. */
  truncate(index: number): void {
    for (const known of this.#withData.keys()) if (known >= index) this.#withData.delete(known);
  }

  /** Entries up to `index` are never applied: a snapshot covers them (spec: H-26). */
  skip(index: number): void {
    for (const known of this.#withData.keys()) if (known <= index) this.#withData.delete(known);
  }

  #find(entry: LogEntry): Transaction | undefined {
    const own = this.#pending.get(entry.term, entry.index);
    if (own !== undefined) return own.transaction;
    const made = this.#withData.get(entry.index);
    return made?.logEntry?.term === entry.term ? made : undefined;
  }
}
