import type { RaftClientReply, RaftClientRequest, ReplicationLevel } from '../protocol/requests.js';
import type { ReplySink } from '../rpc/ratis/server/handler.js';
import type { Replies } from './replies.js';
import type { Watches } from './watches.js';

/**
 * Holds the reply of a write until it is replicated as far as the client asked (spec: consensus 7.2
 * step 8).
 */
export class ReplicationWait implements ReplySink {
  readonly #request: RaftClientRequest;
  readonly #level: ReplicationLevel;
  readonly #sink: ReplySink;
  readonly #watches: Watches;
  readonly #replies: Replies;

  constructor(
    request: RaftClientRequest,
    level: ReplicationLevel,
    sink: ReplySink,
    watches: Watches,
    replies: Replies,
  ) {
    this.#request = request;
    this.#level = level;
    this.#sink = sink;
    this.#watches = watches;
    this.#replies = replies;
  }

  onReply(reply: RaftClientReply): void {
    if (!reply.success) {
      this.#sink.onReply(reply);
      return;
    }
    this.#watches.watch(this.#request, reply.logIndex, this.#level, {
      onReply: (watch) => this.#sink.onReply(this.#replies.withWatch(reply, watch)),
      onFailure: (error) => this.#sink.onFailure(error),
    });
  }

  onFailure(error: Error): void {
    this.#sink.onFailure(error);
  }
}
