import type { WatchLevels } from '../core/types.js';
import {
  NotReplicatedException,
  type RaftException,
  ResourceUnavailableException,
} from '../protocol/exceptions.js';
import type { RaftClientRequest, ReplicationLevel } from '../protocol/requests.js';
import type { ReplySink } from '../rpc/ratis/server/handler.js';
import type { Replies } from './replies.js';

interface Watch {
  readonly request: RaftClientRequest;
  readonly index: number;
  readonly deadlineMs: number;
  readonly sink: ReplySink;
}

export interface WatchLimits {
  readonly elementLimit: number;
  readonly timeoutMs: number;
  /** Arrival times are rounded up to a multiple of it. */
  readonly denominationMs: number;
}

/**
 * One level: watches sorted by index, so that a rise of the level looks at those it answers only.
 */
class WatchQueue {
  readonly level: ReplicationLevel;
  readonly watches: Watch[] = [];
  reached = 0;

  constructor(level: ReplicationLevel) {
    this.level = level;
  }

  add(watch: Watch): void {
    let at = this.watches.length;
    while (at > 0 && (this.watches[at - 1]?.index ?? 0) > watch.index) at--;
    this.watches.splice(at, 0, watch);
  }
}

/** Watch requests at the leader (spec: consensus 7.5). */
export class Watches {
  readonly #replies: Replies;
  readonly #limits: WatchLimits;
  readonly #levels: () => WatchLevels | undefined;
  readonly #nowMs: () => number;
  readonly #queues = ([0, 1, 2, 3] as const).map((level) => new WatchQueue(level));
  #size = 0;
  #nextDeadlineMs = Number.POSITIVE_INFINITY;

  constructor(
    replies: Replies,
    limits: WatchLimits,
    levels: () => WatchLevels | undefined,
    nowMs: () => number,
  ) {
    this.#replies = replies;
    this.#limits = limits;
    this.#levels = levels;
    this.#nowMs = nowMs;
  }

  get size(): number {
    return this.#size;
  }

  /** When `update` must be called at the latest. */
  get deadlineMs(): number {
    return this.#nextDeadlineMs;
  }

  watch(request: RaftClientRequest, index: number, level: ReplicationLevel, sink: ReplySink): void {
    const queue = this.#queues[level];
    if (queue === undefined) {
      sink.onFailure(new ResourceUnavailableException(`unknown replication level ${level}`));
      return;
    }
    this.#raise(this.#levels());
    if (index <= queue.reached) {
      sink.onReply(this.#replies.success(request, undefined, queue.reached));
      return;
    }
    if (queue.watches.length >= this.#limits.elementLimit) {
      sink.onFailure(new ResourceUnavailableException('too many pending watch requests'));
      return;
    }
    const { denominationMs, timeoutMs } = this.#limits;
    const arrivalMs = Math.ceil(this.#nowMs() / denominationMs) * denominationMs;
    const deadlineMs = arrivalMs + timeoutMs;
    queue.add({ request, index, deadlineMs, sink });
    this.#size++;
    this.#nextDeadlineMs = Math.min(this.#nextDeadlineMs, deadlineMs);
  }

  /** Answers what the levels have reached, and what has timed out. */
  update(nowMs: number): void {
    if (this.#size === 0) return;
    this.#raise(this.#levels());
    for (const queue of this.#queues) this.#answer(queue);
    if (nowMs >= this.#nextDeadlineMs) this.#expire(nowMs);
  }

  /** The leader stops (spec: consensus 3.12). */
  failAll(exception: RaftException): void {
    for (const queue of this.#queues) {
      queue.reached = 0;
      for (const watch of queue.watches.splice(0)) {
        this.#size--;
        watch.sink.onReply(this.#replies.exception(watch.request, exception));
      }
    }
    this.#nextDeadlineMs = Number.POSITIVE_INFINITY;
  }

  #raise(levels: WatchLevels | undefined): void {
    if (levels === undefined) return;
    const values = [levels.majority, levels.all, levels.majorityCommitted, levels.allCommitted];
    this.#queues.forEach((queue, i) => {
      queue.reached = Math.max(queue.reached, values[i] ?? 0);
    });
  }

  #answer(queue: WatchQueue): void {
    while ((queue.watches[0]?.index ?? Number.POSITIVE_INFINITY) <= queue.reached) {
      const watch = queue.watches.shift();
      if (watch === undefined) return;
      this.#size--;
      watch.sink.onReply(this.#replies.success(watch.request, undefined, queue.reached));
    }
  }

  #expire(nowMs: number): void {
    let next = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues) {
      const kept: Watch[] = [];
      for (const watch of queue.watches.splice(0)) {
        if (watch.deadlineMs <= nowMs) this.#timeOut(queue.level, watch);
        else kept.push(watch);
      }
      queue.watches.push(...kept);
      for (const watch of kept) next = Math.min(next, watch.deadlineMs);
    }
    this.#nextDeadlineMs = next;
  }

  #timeOut(level: ReplicationLevel, watch: Watch): void {
    this.#size--;
    const exception = new NotReplicatedException(watch.request.callId, level, watch.index);
    watch.sink.onReply(this.#replies.exception(watch.request, exception, watch.index));
  }
}
