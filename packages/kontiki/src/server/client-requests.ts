import { toError } from '../common/errors.js';
import {
  GroupMismatchException,
  IllegalStateException,
  LeaderSteppingDownException,
  type RaftException,
  ServerNotReadyException,
} from '../protocol/exceptions.js';
import { isDummy, type RaftClientRequest } from '../protocol/requests.js';
import type { ReplySink } from '../rpc/ratis/server/handler.js';
import type { DivisionParts } from './division-parts.js';
import { MessageStreams } from './message-streams.js';
import type { ReadRequests } from './read-requests.js';
import type { Watches } from './watches.js';
import type { WriteRequests } from './write-requests.js';

/** Sends the requests of clients to what serves them (spec: consensus 7.1, wire-grpc 5.2). */
export class ClientRequests {
  readonly #parts: DivisionParts;
  readonly #writes: WriteRequests;
  readonly #reads: ReadRequests;
  readonly #watches: Watches;
  readonly #messageStreams: MessageStreams;

  constructor(
    parts: DivisionParts,
    handlers: { writes: WriteRequests; reads: ReadRequests; watches: Watches },
  ) {
    this.#parts = parts;
    this.#writes = handlers.writes;
    this.#reads = handlers.reads;
    this.#watches = handlers.watches;
    this.#messageStreams = new MessageStreams(
      { byteLimit: parts.config.writeByteLimit, idleMs: parts.config.retryCacheExpiryMs },
      parts.nowMs,
    );
  }

  submit(request: RaftClientRequest, sink: ReplySink): void {
    const parts = this.#parts;
    if (parts.isBusy()) parts.submit(() => this.#submitNow(request, sink));
    else this.#submitNow(request, sink);
  }

  /** The office is lost (spec: consensus 3.12). */
  leadershipLost(): void {
    this.#messageStreams.clear();
  }

  #submitNow(request: RaftClientRequest, sink: ReplySink): void {
    const parts = this.#parts;
    if (!parts.isRunning()) {
      sink.onFailure(new ServerNotReadyException(`${parts.memberId} is not in RUNNING state`));
      return;
    }
    if (!request.groupId.equals(parts.groupId)) {
      const text = `${parts.memberId}: the request is for ${request.groupId}`;
      sink.onFailure(new GroupMismatchException(text));
      return;
    }
    parts.retryCache.forget(request.clientId.bytes, request.repliedCallIds);
    try {
      this.#dispatch(request, sink);
    } catch (error) {
      parts.fail(toError(error));
      sink.onFailure(toError(error));
    }
  }

  #dispatch(request: RaftClientRequest, sink: ReplySink): void {
    const { type } = request;
    switch (type.kind) {
      case 'write':
      case 'forward':
        this.#writes.submit(request, sink);
        return;
      case 'read':
        this.#reads.read(request, sink);
        return;
      case 'staleRead':
        this.#reads.staleRead(request, type.minIndex, sink);
        return;
      case 'watch':
        if (isDummy(request.message)) sink.onReply(this.#parts.replies.empty(request));
        else if (this.#checkLeader(request, true, sink)) {
          this.#watches.watch(request, type.index, type.replication, sink);
          this.#parts.settleLater();
        }
        return;
      case 'messageStream':
        if (this.#checkLeader(request, false, sink)) this.#messagePart(request, sink);
        return;
      case 'dataStream':
        sink.onFailure(new IllegalStateException('Unexpected request type: DATASTREAM'));
    }
  }

  #messagePart(request: RaftClientRequest, sink: ReplySink): void {
    let whole: RaftClientRequest | undefined;
    try {
      whole = this.#messageStreams.add(request);
    } catch (error) {
      sink.onFailure(toError(error));
      return;
    }
    if (whole === undefined) sink.onReply(this.#parts.replies.success(request, undefined));
    else this.#writes.submit(whole, sink);
  }

  #checkLeader(request: RaftClientRequest, readOnly: boolean, sink: ReplySink): boolean {
    const { engine, replies, isRunning, memberId } = this.#parts;
    const check = engine.leaderCheck(readOnly);
    if (check === 'ok') return true;
    let error: RaftException;
    if (check === 'notReady') error = replies.notReady();
    else if (check === 'notLeader') {
      error = replies.notLeader(isRunning(), engine.leaderId, engine.configuration);
    } else error = new LeaderSteppingDownException(`${memberId} is stepping down`);
    sink.onReply(replies.exception(request, error));
    return false;
  }
}
