import { type FollowerRecord, retryPauseMs } from './progress.js';
import type { CoreState } from './state.js';

/** Counts an error of an appender, and has it pause (spec: consensus 3.3). */
export function countError(s: CoreState, record: FollowerRecord): void {
  record.errors++;
  const pauseMs = retryPauseMs(s.config.appenderRetryPauses, record.errors, s.random);
  record.pauseUntilMs = s.nowMs + pauseMs;
}

/** What is in flight is lost: the stream begins again with one probe (RATIS-558). */
export function resetPipeline(record: FollowerRecord): void {
  record.forgetPending();
  record.streamProven = false;
}
