import type { Logger } from '../common/logger.js';
import type { Runtime, Timer } from '../common/runtime.js';

export interface PauseMonitorOptions {
  readonly runtime: Runtime;
  readonly logger: Logger;
  /** A sleep that overruns by more is a pause. */
  readonly thresholdMs: number;
  /** Beyond it, leaders give up their office. */
  readonly stepDownMs: number;
  /** Beyond it, the server closes. */
  readonly closeMs: number;
  stepDown(): void;
  close(): void;
}

const INTERVAL_MAX_MS = 300;

/** Notices when the whole process stood still, or its thread was blocked (spec: consensus 1.7). */
export class PauseMonitor {
  readonly #options: PauseMonitorOptions;
  readonly #intervalMs: number;
  #timer: Timer | undefined;

  constructor(options: PauseMonitorOptions) {
    this.#options = options;
    this.#intervalMs = Math.min(INTERVAL_MAX_MS, options.thresholdMs);
  }

  start(): void {
    const { runtime } = this.#options;
    const dueMs = runtime.clock.nowMs() + this.#intervalMs;
    const wake = () => {
      this.start();
      this.#judge(runtime.clock.nowMs() - dueMs);
    };
    this.#timer = runtime.timers.schedule(this.#intervalMs, wake, true);
  }

  stop(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
  }

  #judge(pauseMs: number): void {
    const { thresholdMs, stepDownMs, closeMs, logger } = this.#options;
    if (pauseMs <= thresholdMs) return;
    logger.log('warn', `the process stood still for ${Math.round(pauseMs)} ms`, { pauseMs });
    if (pauseMs > closeMs) this.#options.close();
    else if (pauseMs > stepDownMs) this.#options.stepDown();
  }
}
