import { toError } from '../common/errors.js';
import type { AppendFailure, AppendReply, EntryHeader } from '../core/types.js';
import { commitIndexOf, configurationOf } from '../proto/wire/index.js';
import {
  type AppendEntriesReplyMessage,
  type AppendEntriesRequestMessage,
  EntryKind,
  type LogEntry,
} from '../proto/wire/types.js';
import { RaftIOException, ServerNotReadyException } from '../protocol/exceptions.js';
import type { AppendSink } from '../rpc/ratis/server/handler.js';
import { recordSize } from '../storage/index.js';
import type { DivisionParts } from './division-parts.js';

interface Held {
  readonly request: AppendEntriesRequestMessage;
  readonly sink: AppendSink;
}

function headerOf(entry: LogEntry): EntryHeader {
  const { term, index, kind } = entry;
  if (kind === EntryKind.CONFIGURATION) {
    return { term, index, kind, configuration: configurationOf(entry) };
  }
  if (kind === EntryKind.METADATA) {
    return { term, index, kind, metadataCommitIndex: commitIndexOf(entry) };
  }
  return entry;
}

/** Append requests of a leader, from their arrival to their replies (spec: consensus 3.5). */
export class AppendRequests {
  readonly #parts: DivisionParts;
  readonly #held = new Map<number, Held>();
  readonly #paused = new Set<AppendSink>();
  #logFull = false;
  #nextId = 1;

  constructor(parts: DivisionParts) {
    this.#parts = parts;
  }

  submit(request: AppendEntriesRequestMessage, sink: AppendSink): void {
    this.#parts.submit(() => this.#take(request, sink));
  }

  /** The entries of a request from position `skip` on. */
  entriesOf(requestId: number, skip: number): readonly LogEntry[] {
    const entries = this.#held.get(requestId)?.request.entries ?? [];
    return skip === 0 ? entries : entries.slice(skip);
  }

  reply(requestId: number, reply: AppendReply): void {
    const held = this.#release(requestId);
    held?.sink.onReply(this.#messageOf(held.request, reply));
  }

  fail(requestId: number, failure: AppendFailure): void {
    this.#release(requestId)?.sink.onFailure(this.#errorOf(failure));
  }

  /** The log's queue is full: leaders are read no further until it has drained. */
  logFull(): void {
    if (this.#logFull) return;
    this.#logFull = true;
    this.#parts.log.whenDrained(() => {
      this.#logFull = false;
      for (const sink of this.#paused) sink.resume();
      this.#paused.clear();
    });
    for (const held of this.#held.values()) this.#pause(held.sink);
  }

  /** The division closes: what is held gets an error. */
  failAll(): void {
    for (const id of [...this.#held.keys()]) this.fail(id, { kind: 'notRunning' });
  }

  #take(request: AppendEntriesRequestMessage, sink: AppendSink): void {
    const { engine, commitInfos, nowMs } = this.#parts;
    const { previousTerm, previousIndex } = request;
    let entries: EntryHeader[];
    try {
      commitInfos.merge(request.commitInfos);
      this.#checkSizes(request.entries);
      entries = request.entries.map(headerOf);
    } catch (error) {
      // A peer that sends what can't be read is refused; it can't close this division.
      sink.onFailure(toError(error));
      return;
    }
    const id = this.#nextId++;
    this.#held.set(id, { request, sink });
    if (this.#logFull) this.#pause(sink);
    engine.onAppendRequest(
      id,
      {
        leaderId: request.requestorId,
        leaderTerm: request.leaderTerm,
        previous:
          previousTerm === undefined || previousIndex === undefined
            ? undefined
            : { term: previousTerm, index: previousIndex },
        entries,
        leaderCommit: request.leaderCommit,
        initializing: request.initializing,
      },
      nowMs(),
    );
  }

  /**
   * The log takes no larger ones, and a failure of the log closes the division (design: section 2).
   */
  #checkSizes(entries: readonly LogEntry[]): void {
    const limit = this.#parts.config.log.entrySizeMaxBytes;
    for (const { index, fullSizeBytes, stored } of entries) {
      const sizeBytes = recordSize(Math.max(fullSizeBytes, stored.length));
      if (sizeBytes <= limit) continue;
      throw new RaftIOException(
        `${this.#parts.memberId}: entry ${index} takes ${sizeBytes} bytes in the log, above ` +
          `raft.server.log.appender.buffer.byte-limit ${limit}`,
      );
    }
  }

  #pause(sink: AppendSink): void {
    if (this.#paused.has(sink)) return;
    this.#paused.add(sink);
    sink.pause();
  }

  #release(requestId: number): Held | undefined {
    const held = this.#held.get(requestId);
    this.#held.delete(requestId);
    return held;
  }

  #messageOf(request: AppendEntriesRequestMessage, reply: AppendReply): AppendEntriesReplyMessage {
    return {
      requestorId: request.requestorId,
      replyId: this.#parts.selfId,
      raftGroupId: request.raftGroupId,
      callId: request.callId,
      success: reply.result === 0,
      term: reply.term,
      nextIndex: reply.nextIndex,
      result: reply.result,
      followerCommit: reply.followerCommit,
      matchIndex: reply.matchIndex,
      isHeartbeat: reply.isHeartbeat,
    };
  }

  #errorOf(failure: AppendFailure): Error {
    const { memberId } = this.#parts;
    if (failure.kind === 'notRunning') {
      return new ServerNotReadyException(`${memberId} is not in STARTING or RUNNING state`);
    }
    if (failure.kind === 'malformed') {
      return new RaftIOException(`java.lang.IllegalStateException: ${failure.message}`);
    }
    return new RaftIOException(`${memberId}: the log failed: ${failure.message}`);
  }
}
