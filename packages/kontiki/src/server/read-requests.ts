import { toError } from '../common/errors.js';
import { allPeers } from '../protocol/configuration.js';
import {
  LeaderSteppingDownException,
  type RaftException,
  ReadException,
  ReadIndexException,
  StaleReadException,
  StateMachineException,
} from '../protocol/exceptions.js';
import { RaftPeerRole } from '../protocol/peer.js';
import { isDummy, type RaftClientRequest } from '../protocol/requests.js';
import type { Outcome, ReplySink } from '../rpc/ratis/server/handler.js';
import { AppliedWaiters } from './applied-waiters.js';
import type { DivisionParts } from './division-parts.js';
import { ReadIndices } from './read-indices.js';
import { WriteIndices } from './write-indices.js';

/** Reads and stale reads (spec: consensus 7.4). */
export class ReadRequests {
  readonly indices: ReadIndices;
  readonly waiters = new AppliedWaiters();
  readonly #parts: DivisionParts;
  readonly #appliedIndex: () => number;
  readonly #writeIndices: WriteIndices;

  constructor(parts: DivisionParts, appliedIndex: () => number) {
    this.#parts = parts;
    this.#appliedIndex = appliedIndex;
    this.indices = new ReadIndices(parts);
    this.#writeIndices = new WriteIndices(parts.config.writeIndexExpiryMs);
  }

  /** A client's write got a place in the log. */
  writeAppended(request: RaftClientRequest, index: number): void {
    this.#writeIndices.update(request.clientId.uuid, index, this.#parts.nowMs());
  }

  read(request: RaftClientRequest, sink: ReplySink): void {
    const { type } = request;
    const { config, engine } = this.#parts;
    const local = type.kind === 'read' && type.preferNonLinearizable;
    if (config.readOption === 'DEFAULT' || local) {
      if (this.#checkLeader(request, sink)) this.#query(request, sink);
    } else if (engine.role === RaftPeerRole.LEADER) {
      this.#leaderIndex(request, (index, error) => this.#proceed(request, sink, index, error));
    } else {
      this.#readElsewhere(request, sink);
    }
  }

  staleRead(request: RaftClientRequest, minIndex: number, sink: ReplySink): void {
    const { engine, replies, stateMachine, memberId } = this.#parts;
    if (engine.commitIndex < minIndex) {
      const commit = `server commit index = ${engine.commitIndex} < min = ${minIndex}`;
      const text = `Unable to serve stale-read due to ${commit}`;
      const cause = new StaleReadException(text);
      const error = new StateMachineException(memberId, cause.javaClass, text, { cause });
      sink.onReply(replies.exception(request, error));
      return;
    }
    this.#answer(request, sink, () => stateMachine.queryStale(request.message, minIndex));
  }

  /** The read index for a follower's read (spec: consensus 7.4). */
  serveReadIndex(request: RaftClientRequest, done: Outcome<number>): void {
    const { engine, memberId } = this.#parts;
    if (engine.role !== RaftPeerRole.LEADER) {
      done(new ReadIndexException(`${memberId} is not the leader`), undefined);
      return;
    }
    this.#leaderIndex(request, (index, error) => done(error, index));
  }

  /** The division closes: everybody who waits is told. */
  failAll(): void {
    this.indices.failAll();
    for (const waiter of this.waiters.takeAll()) waiter.onTimeout();
  }

  #checkLeader(request: RaftClientRequest, sink: ReplySink): boolean {
    const { engine, replies, isRunning, memberId } = this.#parts;
    const check = engine.leaderCheck(true);
    if (check === 'ok') return true;
    let error: RaftException;
    if (check === 'notReady') error = replies.notReady();
    else if (check === 'notLeader') {
      error = replies.notLeader(isRunning(), engine.leaderId, engine.configuration);
    } else error = new LeaderSteppingDownException(`${memberId} is stepping down`);
    sink.onReply(replies.exception(request, error));
    return false;
  }

  #leaderIndex(
    request: RaftClientRequest,
    done: (index: number | undefined, error: RaftException | undefined) => void,
  ): void {
    const { type } = request;
    const afterWrite = type.kind === 'read' && type.readAfterWriteConsistent;
    const writeIndex = afterWrite
      ? this.#writeIndices.of(request.clientId.uuid, this.#parts.nowMs())
      : -1;
    this.indices.ask((index, error) => {
      done(index === undefined ? undefined : Math.max(index, writeIndex), error);
    });
  }

  #readElsewhere(request: RaftClientRequest, sink: ReplySink): void {
    const { engine, replies, selfId, groupId, memberId } = this.#parts;
    const { leaderId } = engine;
    const leader = allPeers(engine.configuration).find((peer) => peer.id === leaderId);
    const stubs = leader === undefined ? undefined : this.#parts.stubsOf(leader);
    if (leaderId === undefined || stubs === undefined) {
      const error = new ReadIndexException(`${memberId}: the leader is unknown`);
      sink.onReply(replies.exception(request, error));
      return;
    }
    const route = { from: selfId, to: leaderId, groupId };
    stubs.readIndex(route, request, (index, error) => {
      const failure =
        index === undefined || !this.#parts.isRunning()
          ? new ReadIndexException(
              `${memberId}: no read index from ${leaderId}: ${error?.message ?? 'refused'}`,
            )
          : undefined;
      if (failure !== undefined) sink.onReply(replies.exception(request, failure));
      else this.#parts.submit(() => this.#proceed(request, sink, index, undefined));
    });
  }

  #proceed(
    request: RaftClientRequest,
    sink: ReplySink,
    index: number | undefined,
    error: RaftException | undefined,
  ): void {
    const { replies } = this.#parts;
    if (index === undefined) {
      const failure = error ?? new ReadIndexException(`${this.#parts.memberId}: no read index`);
      sink.onReply(replies.exception(request, failure));
    } else if (index <= this.#appliedIndex()) {
      this.#query(request, sink);
    } else {
      this.#waitApplied(request, sink, index);
    }
  }

  #waitApplied(request: RaftClientRequest, sink: ReplySink, index: number): void {
    const { nowMs, config, replies, memberId } = this.#parts;
    this.waiters.add({
      index,
      deadlineMs: nowMs() + config.readTimeoutMs,
      onApplied: () => this.#query(request, sink),
      onTimeout: () => {
        const error = new ReadException(`${memberId}: index ${index} was not applied in time`);
        sink.onReply(replies.exception(request, error));
      },
    });
  }

  #query(request: RaftClientRequest, sink: ReplySink): void {
    const { stateMachine, replies } = this.#parts;
    const { type } = request;
    if ((type.kind === 'read' && type.dummy) || isDummy(request.message)) {
      sink.onReply(replies.success(request, undefined));
      return;
    }
    this.#answer(request, sink, () => stateMachine.query(request.message));
  }

  /** A StateMachineException becomes a reply, anything else ends the RPC (spec: wire-grpc 4.5). */
  #answer(
    request: RaftClientRequest,
    sink: ReplySink,
    query: () => Promise<Uint8Array> | Uint8Array,
  ): void {
    const { replies } = this.#parts;
    const failed = (thrown: unknown) => {
      if (thrown instanceof StateMachineException) {
        sink.onReply(replies.exception(request, thrown));
      } else sink.onFailure(toError(thrown));
    };
    let result: Promise<Uint8Array> | Uint8Array;
    try {
      result = query();
    } catch (thrown) {
      failed(thrown);
      return;
    }
    if (result instanceof Uint8Array) {
      sink.onReply(replies.success(request, result));
      return;
    }
    Promise.resolve(result).then(
      (message) => sink.onReply(replies.success(request, message)),
      failed,
    );
  }
}
