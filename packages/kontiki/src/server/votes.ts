import type { VoteReply, VoteRequest } from '../core/types.js';
import { allPeers } from '../protocol/configuration.js';
import { IllegalStateException, ServerNotReadyException } from '../protocol/exceptions.js';
import type { RaftPeerId } from '../protocol/ids.js';
import type { Outcome } from '../rpc/ratis/server/handler.js';
import type { PendingCall } from '../rpc/transport.js';
import type { DivisionParts } from './division-parts.js';

/**
 * Vote requests, both ways: those of candidates to this server, and its own (spec: consensus 2.4,
 * 2.5).
 */
export class Votes {
  readonly #parts: DivisionParts;
  readonly #asked = new Map<number, Outcome<VoteReply>>();
  readonly #calls = new Map<number, Set<PendingCall>>();
  #nextId = 1;

  constructor(parts: DivisionParts) {
    this.#parts = parts;
  }

  /** A candidate asks. */
  onRequest(request: VoteRequest, done: Outcome<VoteReply>): void {
    const { submit, engine, nowMs, isRunning } = this.#parts;
    submit(() => {
      if (!isRunning()) {
        done(this.#notReady(), undefined);
        return;
      }
      const id = this.#nextId++;
      this.#asked.set(id, done);
      engine.onVoteRequest(id, request, nowMs());
    });
  }

  reply(requestId: number, reply: VoteReply): void {
    this.#take(requestId)?.(undefined, reply);
  }

  fail(requestId: number, malformed?: string): void {
    const error = malformed === undefined ? this.#notReady() : new IllegalStateException(malformed);
    this.#take(requestId)?.(error, undefined);
  }

  /** Asks a peer for its vote. */
  ask(to: RaftPeerId, electionId: number, request: VoteRequest): void {
    const { engine, selfId, groupId, submit, nowMs } = this.#parts;
    const peer = allPeers(engine.configuration).find((one) => one.id === to);
    const stubs = peer === undefined ? undefined : this.#parts.stubsOf(peer);
    if (stubs === undefined) {
      submit(() => engine.onVoteReply(electionId, to, undefined, nowMs()));
      return;
    }
    const calls = this.#calls.get(electionId) ?? new Set();
    this.#calls.set(electionId, calls);
    const call = stubs.requestVote({ from: selfId, to, groupId }, request, (reply, error) => {
      calls.delete(call);
      // Calls that are cancelled fail, too.
      const isOpen = this.#calls.get(electionId) === calls;
      if (error === undefined) this.#parts.operatorLog.peerAnswered(to);
      else if (isOpen) this.#parts.operatorLog.peerFailed(to, error.message);
      submit(() => engine.onVoteReply(electionId, to, reply, nowMs()));
    });
    calls.add(call);
  }

  /** The election is decided: open calls are of no use. */
  ended(electionId: number): void {
    const calls = this.#calls.get(electionId);
    this.#calls.delete(electionId);
    for (const call of calls ?? []) call.cancel();
  }

  /** The division closes. */
  failAll(): void {
    for (const id of [...this.#calls.keys()]) this.ended(id);
    for (const id of [...this.#asked.keys()]) this.fail(id);
  }

  #take(requestId: number): Outcome<VoteReply> | undefined {
    const done = this.#asked.get(requestId);
    this.#asked.delete(requestId);
    return done;
  }

  #notReady(): ServerNotReadyException {
    return new ServerNotReadyException(`${this.#parts.memberId} is not in RUNNING state`);
  }
}
