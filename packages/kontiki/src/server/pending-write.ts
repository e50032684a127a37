import type { RaftClientReply, RaftClientRequest } from '../protocol/requests.js';
import type { ReplySink } from '../rpc/ratis/server/handler.js';
import type { Transaction } from './transaction-context.js';

/**
 * A write of this leader: from its first check until its entry was applied or cut. It stands in the
 * retry cache meanwhile, so that retries wait for the same outcome (spec: R-2).
 */
export class PendingWrite {
  /** As the client sent it: names the entry of the retry cache and the ids of the reply. */
  readonly request: RaftClientRequest;
  /** What is logged: the inner request of a FORWARD, else `request` (spec: consensus 7.2). */
  readonly logged: RaftClientRequest;
  readonly transaction: Transaction;
  /** Where the request came from. */
  readonly origin: ReplySink;
  /** Bytes of its permit. */
  sizeBytes = 0;
  hasPermit = false;
  /** Place in the log, -1 before it has one. */
  term = -1;
  index = -1;
  #sink: ReplySink | undefined;
  #others: ReplySink[] | undefined;

  constructor(
    request: RaftClientRequest,
    logged: RaftClientRequest,
    transaction: Transaction,
    origin: ReplySink,
    sink: ReplySink = origin,
  ) {
    this.origin = origin;
    this.request = request;
    this.logged = logged;
    this.transaction = transaction;
    this.#sink = sink;
  }

  /** Somebody waits for the outcome. */
  get isAwaited(): boolean {
    return this.#sink !== undefined;
  }

  /** A retry of the same call waits, too. */
  addWaiter(sink: ReplySink): void {
    if (this.#sink === undefined) {
      this.#sink = sink;
      return;
    }
    this.#others ??= [];
    this.#others.push(sink);
  }

  /** Tells everybody who waits; they wait no longer. */
  reply(reply: RaftClientReply): void {
    const sink = this.#sink;
    const others = this.#others;
    this.#sink = undefined;
    this.#others = undefined;
    sink?.onReply(reply);
    if (others !== undefined) for (const other of others) other.onReply(reply);
  }

  fail(error: Error): void {
    const sink = this.#sink;
    const others = this.#others;
    this.#sink = undefined;
    this.#others = undefined;
    sink?.onFailure(error);
    if (others !== undefined) for (const other of others) other.onFailure(error);
  }
}

/**
 * The writes of this leader that have a place in the log and are not applied, by index (spec:
 * consensus 7.2; RATIS-2001: by term, too).
 */
export class PendingWrites {
  readonly #byIndex = new Map<number, PendingWrite>();

  get size(): number {
    return this.#byIndex.size;
  }

  add(write: PendingWrite): void {
    this.#byIndex.set(write.index, write);
  }

  /** The write at a position, without removing it. */
  get(term: number, index: number): PendingWrite | undefined {
    const write = this.#byIndex.get(index);
    return write !== undefined && write.term === term ? write : undefined;
  }

  remove(write: PendingWrite): void {
    if (this.#byIndex.get(write.index) === write) this.#byIndex.delete(write.index);
  }

  /** Removes the writes from `index` on: their entries are cut from the log. */
  truncate(index: number): PendingWrite[] {
    const cut: PendingWrite[] = [];
    for (const write of this.#byIndex.values()) if (write.index >= index) cut.push(write);
    for (const write of cut) this.#byIndex.delete(write.index);
    return cut;
  }

  /** Removes the writes up to `index`: their entries are never applied here. */
  skip(index: number): PendingWrite[] {
    const skipped: PendingWrite[] = [];
    for (const write of this.#byIndex.values()) if (write.index <= index) skipped.push(write);
    for (const write of skipped) this.#byIndex.delete(write.index);
    return skipped;
  }

  /** All of them, in log order. */
  all(): PendingWrite[] {
    return [...this.#byIndex.values()];
  }
}
