import type { LogEntry } from '../proto/wire/types.js';
import { UnsupportedOperationException } from '../protocol/exceptions.js';
import type { StateMachineDataApi } from '../statemachine/types.js';
import type { LogDataStore } from '../storage/types.js';
import type { Transaction } from './transaction-context.js';

/** Finds or makes the context of an entry with state machine data. */
export type TransactionLookup = (entry: LogEntry) => Transaction;

/**
 * The user's data API, as the log calls it (spec: consensus 6.4). Contexts come from the division,
 * once it stands.
 */
export class DataStore implements LogDataStore {
  readonly #api: StateMachineDataApi;
  #transactionOf: TransactionLookup | undefined;

  constructor(api: StateMachineDataApi) {
    this.#api = api;
  }

  /** Where contexts come from. */
  bind(transactionOf: TransactionLookup): void {
    this.#transactionOf = transactionOf;
  }

  write(entry: LogEntry): Promise<void> {
    const transaction = this.#transactionOf?.(entry);
    if (transaction === undefined) throw new Error('data is written before the division stands');
    return this.#api.write(entry, transaction);
  }

  read(entry: LogEntry): Promise<Uint8Array> {
    return this.#api.read(entry, this.#transactionOf?.(entry));
  }

  link(entry: LogEntry): Promise<void> {
    const text = `entry ${entry.index} belongs to a data stream, which this server does not take`;
    return Promise.reject(new UnsupportedOperationException(text));
  }

  flush(index: number): Promise<void> {
    return this.#api.flush(index);
  }

  truncate(index: number): Promise<void> {
    return this.#api.truncate(index);
  }
}
