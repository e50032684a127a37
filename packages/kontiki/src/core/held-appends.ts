import type { TermIndex } from '../protocol/term-index.js';
import type { FollowerTimer } from './follower-timer.js';
import type { AppendReply, AppendRequest } from './types.js';

/** A data request whose reply has to wait: for durable entries, or for its turn. */
export interface HeldAppend {
  readonly requestId: number;
  /** Set when the reply does not depend on the log. */
  readonly decided: AppendReply | undefined;
  /** Last entry of the request. */
  readonly last: TermIndex | undefined;
  /** Term of this server when the request came (spec: consensus 3.5). */
  readonly term: number;
  /** The timer that counts it as outstanding. */
  readonly timer: FollowerTimer | undefined;
}

/** A batch that waits until the one before it is durable (spec: consensus 3.7, compose). */
export interface QueuedAppend {
  readonly requestId: number;
  readonly request: AppendRequest;
  readonly term: number;
  readonly timer: FollowerTimer | undefined;
}

/** Data requests of leaders that are not answered yet, in order of arrival. */
export class HeldAppends {
  /** Entries handed to the log, waiting for the flush. Replies leave in this order (RATIS-192). */
  readonly held: HeldAppend[] = [];
  /** Only in compose mode: batches not yet handed to the log. */
  readonly queued: QueuedAppend[] = [];

  /** An entry that is queued but not yet in the log (spec: consensus 3.5 check 5). */
  isQueued(position: TermIndex): boolean {
    for (const { request } of this.queued) {
      const first = request.entries[0];
      if (first === undefined) continue;
      if (request.entries[position.index - first.index]?.term === position.term) return true;
    }
    return false;
  }
}
