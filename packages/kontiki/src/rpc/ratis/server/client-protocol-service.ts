import type { RaftGroupId } from '../../../protocol/ids.js';
import type { ServerStream, ServiceDefinition, StreamListener } from '../../transport.js';
import type { RaftServerHandler } from './handler.js';
import { Paths } from './method-paths.js';
import { OrderedStream } from './ordered-stream.js';
import { ReplyEncoder } from './reply-encoder.js';
import { UnorderedStream } from './unordered-stream.js';

/** RaftClientProtocolService (spec: wire-grpc 5). */
export class ClientProtocolService {
  readonly #handler: RaftServerHandler;
  readonly #encoder = new ReplyEncoder();
  readonly #ordered = new Set<OrderedStream>();

  constructor(handler: RaftServerHandler) {
    this.#handler = handler;
  }

  get definition(): ServiceDefinition {
    return {
      streams: {
        [Paths.ordered]: (stream) => this.#openOrdered(stream),
        [Paths.unordered]: (stream) => new UnorderedStream(stream, this.#handler, this.#encoder),
      },
    };
  }

  /**
   * Ends the ordered streams of a group, and those that have not seen a request (spec: wire-grpc
   * 5.3).
   */
  leadershipLost(groupId: RaftGroupId): void {
    for (const stream of [...this.#ordered]) {
      if (stream.groupId === undefined || stream.groupId.equals(groupId)) stream.complete();
    }
  }

  #openOrdered(stream: ServerStream): StreamListener {
    const ordered = new OrderedStream(stream, this.#handler, new ReplyEncoder(), (ended) => {
      this.#ordered.delete(ended);
    });
    this.#ordered.add(ordered);
    return ordered;
  }
}
