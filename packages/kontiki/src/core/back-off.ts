import { type FollowerRecord, retryPauseMs } from './progress.js';
import type { CoreState } from './state.js';

/** Counts an error of an appender, and has it pause (spec: consensus 3.3). */
export function countError(s: CoreState, record: FollowerRecord): void {
  record.errors++;
  const pauseMs = retryPauseMs(s.config.appenderRetryPauses, record.errors, s.random);
  record.pauseUntilMs = s.nowMs + pauseMs;
}
