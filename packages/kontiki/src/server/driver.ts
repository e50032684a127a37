import { toError } from '../common/errors.js';
import type { Runtime } from '../common/runtime.js';
import type { EngineCommand, RaftEngine } from '../core/types.js';
import type { Scheduler, Wakeup } from './scheduler.js';

/** What the driver needs of its division. */
export interface DriverHooks {
  /** Gives proposals that have their positions to the log. */
  flushProposals(): void;
  run(command: EngineCommand): void;
  /** Work that may call the engine: appenders, applies, reads. True when it did some. */
  work(nowMs: number): boolean;
  /** When `work` is to be called at the latest. */
  workAtMs(): number;
  /** A throw: this division is lost. */
  failed(error: Error): void;
}

/**
 * Drives the engine (core/types.ts, duties 1 and 2): one input at a time, then the commands, then
 * the work that they led to, until nothing is left. Inputs that arise meanwhile wait for their
 * turn.
 */
export class Driver implements Wakeup {
  wakeAtMs = 0;
  heapIndex = -1;
  readonly #engine: RaftEngine;
  readonly #runtime: Runtime;
  readonly #scheduler: Scheduler;
  readonly #hooks: DriverHooks;
  readonly #inputs: (() => void)[] = [];
  #busy = false;
  #closed = false;
  #settleQueued = false;

  constructor(engine: RaftEngine, runtime: Runtime, scheduler: Scheduler, hooks: DriverHooks) {
    this.#engine = engine;
    this.#runtime = runtime;
    this.#scheduler = scheduler;
    this.#hooks = hooks;
  }

  nowMs(): number {
    return this.#runtime.clock.nowMs();
  }

  /** True while an input is carried out: the engine must not be called. */
  get isBusy(): boolean {
    return this.#busy;
  }

  get isClosed(): boolean {
    return this.#closed;
  }

  /**
   * Carries out `input`, now or after those that are under way. False after the close: it is
   * dropped.
   */
  submit(input: () => void): boolean {
    if (this.#closed) return false;
    this.#inputs.push(input);
    if (!this.#busy) this.#drain();
    return true;
  }

  /** Has commands and work looked after at the end of this turn, after all input that is there. */
  settleLater(): void {
    if (this.#settleQueued || this.#closed) return;
    this.#settleQueued = true;
    this.#runtime.timers.defer(() => {
      this.#settleQueued = false;
      this.submit(this.#nothing);
    });
  }

  onWakeup(nowMs: number): void {
    this.submit(() => {
      if (this.#engine.deadlineMs() <= nowMs) this.#engine.tick(nowMs);
    });
  }

  /** Nothing is carried out from now on. */
  close(): void {
    this.#closed = true;
    this.#scheduler.clear(this);
    this.#inputs.length = 0;
  }

  readonly #nothing = (): void => undefined;

  #drain(): void {
    this.#busy = true;
    for (let at = 0; at < this.#inputs.length; at++) {
      try {
        this.#inputs[at]?.();
        this.#settle();
      } catch (error) {
        // What waits is carried out nevertheless: it finds the division failed, and says so.
        this.#hooks.failed(toError(error));
      }
    }
    this.#inputs.length = 0;
    this.#busy = false;
    if (this.#closed) return;
    const atMs = Math.min(this.#engine.deadlineMs(), this.#hooks.workAtMs());
    this.#scheduler.set(this, atMs);
  }

  #settle(): void {
    while (!this.#closed) {
      this.#hooks.flushProposals();
      const commands = this.#engine.takeCommands();
      for (const command of commands) this.#hooks.run(command);
      if (!this.#hooks.work(this.nowMs()) && commands.length === 0) return;
    }
  }
}
