import type { Logger } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import type { LogEntry } from '../proto/wire/types.js';
import { StateMachineDataTimeoutError } from './errors.js';
import type { LogDataStore, RaftLogConfig } from './types.js';
import type { DataWork, WriteBatch } from './write-batch.js';

/** A failed piece of state machine data work, and the entry that it belongs to. */
export interface DataFailure {
  readonly error: unknown;
  readonly entry: LogEntry;
}

/** Waits for state machine data as the configuration says (spec: storage 8). */
export class DataSync {
  readonly #store: LogDataStore | undefined;
  readonly #config: RaftLogConfig;
  readonly #runtime: Runtime;
  readonly #logger: Logger;

  constructor(
    store: LogDataStore | undefined,
    config: RaftLogConfig,
    runtime: Runtime,
    logger: Logger,
  ) {
    this.#store = store;
    this.#config = config;
    this.#runtime = runtime;
    this.#logger = logger;
  }

  /** Whether there is a state machine with data at all. */
  get isActive(): boolean {
    return this.#store !== undefined;
  }

  /**
   * Starts the write of an entry's data, or the link of its stream; undefined when it has neither.
   * What the state machine throws is thrown on.
   */
  start(entry: LogEntry, isDataStream: boolean): DataWork | undefined {
    if (this.#store === undefined) return undefined;
    if (!entry.hasData && !isDataStream) return undefined;
    const work = entry.hasData ? this.#store.write(entry) : this.#store.link(entry);
    const done = Promise.resolve(work).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    return { entry, done };
  }

  /**
   * The data of an entry to send. That it takes longer than `data.read.timeout` is told once: to
   * read it a second time would not make it come sooner.
   */
  async read(entry: LogEntry, store: LogDataStore): Promise<Uint8Array> {
    const timeoutMs = this.#config.stateMachineDataReadTimeoutMs;
    const timer = this.#runtime.timers.schedule(timeoutMs, () => {
      const text = `reading state machine data of entry ${entry.index} takes longer than`;
      this.#logger.log('warn', `${text} ${timeoutMs} ms, waiting on`);
    });
    try {
      return await store.read(entry);
    } finally {
      timer.cancel();
    }
  }

  truncate(index: number): Promise<{ readonly error: unknown } | undefined> {
    const work = this.#store?.truncate(index);
    return Promise.resolve(work).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
  }

  /**
   * Before the records of a batch may be written: with `data.sync`, its data is written and
   * flushed.
   */
  async beforeWrite(batch: WriteBatch): Promise<DataFailure | undefined> {
    if (this.#store === undefined || !this.#config.stateMachineDataSync) return undefined;
    for (const work of batch.dataWork) {
      const failure = await this.#withinTime(work.done, `data of entry ${work.entry.index}`);
      if (failure !== undefined) return { error: failure.error, entry: work.entry };
    }
    const flush = this.#flush(batch.last.index);
    const failure = await this.#withinTime(flush, `flush up to entry ${batch.last.index}`);
    return failure === undefined ? undefined : this.#ofBatch(batch, failure.error);
  }

  /**
   * Before a written batch may count as durable: without `data.sync`, the same without a time
   * limit.
   */
  async beforeDurable(batch: WriteBatch): Promise<DataFailure | undefined> {
    if (this.#store === undefined || this.#config.stateMachineDataSync) return undefined;
    for (const work of batch.dataWork) {
      const failure = await work.done;
      if (failure !== undefined) return { error: failure.error, entry: work.entry };
    }
    const failure = await this.#flush(batch.last.index);
    return failure === undefined ? undefined : this.#ofBatch(batch, failure.error);
  }

  #ofBatch(batch: WriteBatch, error: unknown): DataFailure | undefined {
    return { error, entry: batch.lastEntry };
  }

  async #flush(index: number): Promise<{ readonly error: unknown } | undefined> {
    try {
      await this.#store?.flush(index);
      return undefined;
    } catch (error) {
      return { error };
    }
  }

  async #withinTime(
    work: Promise<{ readonly error: unknown } | undefined>,
    what: string,
  ): Promise<{ readonly error: unknown } | undefined> {
    const { stateMachineDataSyncTimeoutMs: timeoutMs, stateMachineDataSyncTimeoutRetry: retry } =
      this.#config;
    for (let attempt = 0; ; attempt++) {
      const result = await this.#race(work, timeoutMs);
      if (result !== 'timeout') return result;
      const message = `state machine ${what} took longer than ${timeoutMs} ms`;
      if (retry >= 0 && attempt >= retry) {
        return { error: new StateMachineDataTimeoutError(message) };
      }
      this.#logger.log('warn', `${message}, waiting on (attempt ${attempt + 1})`);
    }
  }

  #race<T>(work: Promise<T>, timeoutMs: number): Promise<T | 'timeout'> {
    return new Promise((resolve) => {
      const timer = this.#runtime.timers.schedule(timeoutMs, () => resolve('timeout'));
      void work.then((value) => {
        timer.cancel();
        resolve(value);
      });
    });
  }
}
