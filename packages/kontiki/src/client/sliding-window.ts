import { assert, toError } from '../common/errors.js';
import { decodeClientReply } from '../proto/wire/index.js';
import {
  AlreadyClosedException,
  GroupMismatchException,
  LeaderNotReadyException,
  NotLeaderException,
  type RaftException,
  TimeoutIOException,
} from '../protocol/exceptions.js';
import type { CallId, RaftPeerId } from '../protocol/ids.js';
import type { RaftClientReply } from '../protocol/requests.js';
import { LazyTimer } from '../rpc/ratis/client/lazy-timer.js';
import type { PeerConnection } from '../rpc/ratis/client/peer-connection.js';
import { replyFromWire } from '../rpc/ratis/client/reply.js';
import type { RequestStream, RequestStreamListener } from '../rpc/ratis/client/request-stream.js';
import type { ClientCore } from './client-core.js';
import { Deque } from './deque.js';
import type { OrderedCall } from './ordered-call.js';
import { Attempts } from './retry.js';

/**
 * The ordered requests of one target: the leader, or one named server (spec: client 9, wire-grpc
 * 5.4).
 *
 * A window has its own `ordered` stream, so that windows of one server do not disturb each other's
 * numbers, and stays with that stream's server until the stream ends or nothing is in flight. On a
 * new stream the lowest request goes alone, marked first; its reply opens the window. Whatever ends
 * the stream sends all requests in flight round again, with their numbers, over the next stream.
 */
export class SlidingWindow implements RequestStreamListener {
  readonly #core: ClientCore;
  readonly #serverId: RaftPeerId | undefined;
  readonly #onDone: (call: OrderedCall) => void;
  /** Unanswered requests by number. The first `#inFlight` were sent on the current stream. */
  readonly #calls = new Deque<OrderedCall>();
  readonly #timer: LazyTimer;
  #inFlight = 0;
  #nextSeqNum = 1;
  #firstReplied = false;
  #stream: RequestStream | undefined;
  #connection: PeerConnection | undefined;
  #full = false;
  #resting = false;
  #failure: Error | undefined;

  /**
   * `serverId` undefined is the leader. `onDone` is called once for each call that needs no permit
   * any more.
   */
  constructor(
    core: ClientCore,
    serverId: RaftPeerId | undefined,
    onDone: (call: OrderedCall) => void,
  ) {
    this.#core = core;
    this.#serverId = serverId;
    this.#onDone = onDone;
    this.#timer = new LazyTimer(core.runtime, (nowMs) => this.#checkTimeout(nowMs));
  }

  /** Requests without an answer. */
  get pendingCount(): number {
    return this.#calls.length;
  }

  /** Takes the next number for `call` and sends it as soon as order allows. */
  submit(call: OrderedCall): void {
    call.seqNum = this.#nextSeqNum++;
    if (this.#failure !== undefined) {
      call.reject(deadWindow(this.#failure));
      this.#onDone(call);
      return;
    }
    this.#calls.push(call);
    this.#pump();
  }

  /** Rejects everything; nothing is sent any more. */
  close(error: AlreadyClosedException): void {
    const inUse = this.#inFlight > 0;
    this.#failFrom(0, error, error);
    this.#timer.cancel();
    this.#stream?.abandon(inUse);
    this.#stream = undefined;
  }

  onReply(bytes: Uint8Array): void {
    const reply = replyFromWire(decodeClientReply(bytes), this.#core);
    const position = this.#positionOf(reply.callId);
    if (position === undefined) return;
    const call = this.#calls.at(position);
    assert(call !== undefined, 'an answered request is in the window');
    if (isLeaderException(reply.exception) && !(call.isDummy && this.#serverId !== undefined)) {
      this.#stream?.fail(reply.exception);
      return;
    }
    this.#calls.remove(position);
    this.#inFlight--;
    this.#firstReplied = true;
    this.#settle(call, reply);
    this.#pump();
  }

  onDrain(): void {
    this.#full = false;
    this.#pump();
  }

  /** The stream is over: every request in flight has failed in this attempt. */
  onFailed(error: RaftException): void {
    const serverId = this.#connection?.peer.id;
    const failed = this.#inFlight;
    this.#forgetStream();
    if (failed === 0 || serverId === undefined) return;
    if (error instanceof GroupMismatchException) {
      this.#failFrom(0, error, error);
      return;
    }
    const delayMs = this.#askPolicy(failed, error);
    this.#core.leader.onFailure(serverId, error);
    if (delayMs !== undefined) this.#rest(delayMs);
  }

  #settle(call: OrderedCall, reply: RaftClientReply): void {
    if (call.toLeader && !call.isDummy) this.#core.onReply(call.type, call.callId, reply);
    if (reply.exception === undefined) call.resolve(reply);
    else call.reject(reply.exception);
    this.#onDone(call);
  }

  /** Replies come in order; only those of a stream that is being closed do not. */
  #positionOf(callId: CallId): number | undefined {
    for (let i = 0; i < this.#inFlight; i++) {
      if (this.#calls.at(i)?.callId === callId) return i;
    }
    return undefined;
  }

  #pump(): void {
    if (this.#resting || this.#calls.length === 0) return;
    if (this.#inFlight === 0 && !this.#prepareStream()) return;
    if (!this.#firstReplied) {
      if (this.#inFlight === 0) this.#sendNext(true);
      return;
    }
    while (this.#inFlight < this.#calls.length && !this.#full) {
      if (this.#stream === undefined) return;
      this.#sendNext(false);
    }
  }

  /** Has a stream to the right server; false when the window failed over it. */
  #prepareStream(): boolean {
    const target = this.#serverId ?? this.#core.leader.leaderId;
    if (this.#stream !== undefined) {
      if (this.#connection?.peer.id === target) return true;
      this.#stream.abandon(false);
      this.#forgetStream();
    }
    try {
      this.#connection = this.#core.connections.get(target);
      this.#stream = this.#connection.openStream('ordered', this);
      return true;
    } catch (thrown) {
      const error = toError(thrown);
      this.#failFrom(0, error, error);
      return false;
    }
  }

  #sendNext(isFirst: boolean): void {
    const call = this.#calls.at(this.#inFlight);
    const stream = this.#stream;
    const connection = this.#connection;
    assert(call !== undefined && stream !== undefined && connection !== undefined, 'ready to send');
    if (isFirst) call.isFirst = true;
    call.sentMs = this.#core.runtime.clock.nowMs();
    this.#inFlight++;
    this.#timer.arm(call.sentMs + this.#core.settings.requestTimeoutMs);
    const bytes = this.#core.encoder.encode(call, connection.peer.id, call.seqNum, call.isFirst);
    this.#full = !stream.send(bytes);
  }

  #forgetStream(): void {
    this.#stream = undefined;
    this.#connection = undefined;
    this.#inFlight = 0;
    this.#firstReplied = false;
    this.#full = false;
    this.#timer.cancel();
  }

  /**
   * Counts the failed attempt of the first `count` requests. Returns the pause, or undefined when
   * nothing is left.
   */
  #askPolicy(count: number, error: RaftException): number | undefined {
    let delayMs: number | undefined;
    const nowMs = this.#core.runtime.clock.nowMs();
    for (let i = 0; i < count; i++) {
      const call = this.#calls.at(i);
      assert(call !== undefined, 'a request in flight is in the window');
      call.attempts ??= new Attempts(call.sentMs);
      const { retryPolicy, clientId } = this.#core;
      const decision = call.attempts.onFailure(retryPolicy, call.type, error, nowMs, () => {
        return `${call.type.kind} request ${call.callId} (seq ${call.seqNum}) of ${clientId}`;
      });
      if (!decision.retry) {
        this.#failFrom(i, decision.error, error);
        break;
      }
      delayMs ??= decision.delayMs;
    }
    return this.#calls.length === 0 ? undefined : (delayMs ?? 0);
  }

  #rest(delayMs: number): void {
    const target = this.#serverId ?? this.#core.leader.leaderId;
    const pauseMs = this.#core.delayBefore(target, delayMs);
    if (pauseMs === 0) {
      this.#pump();
      return;
    }
    this.#resting = true;
    this.#core.sleeper.sleep(pauseMs, () => {
      this.#resting = false;
      this.#pump();
    });
  }

  /** The window is dead from `position` on, for good (spec: client 9, fail). */
  #failFrom(position: number, first: Error, cause: Error): void {
    this.#failure ??= cause;
    const failed = this.#calls.takeFrom(position);
    this.#inFlight = Math.min(this.#inFlight, position);
    for (const [i, call] of failed.entries()) {
      call.reject(i === 0 || first instanceof AlreadyClosedException ? first : deadWindow(cause));
      this.#onDone(call);
    }
  }

  #checkTimeout(nowMs: number): number | undefined {
    const oldest = this.#calls.at(0);
    if (this.#inFlight === 0 || oldest === undefined) return undefined;
    const deadlineMs = oldest.sentMs + this.#core.settings.requestTimeoutMs;
    if (nowMs < deadlineMs) return deadlineMs;
    const serverId = this.#connection?.peer.id ?? '';
    this.#stream?.fail(new TimeoutIOException(`no reply from ${serverId} in time`));
    return undefined;
  }
}

function isLeaderException(
  error: RaftException | undefined,
): error is NotLeaderException | LeaderNotReadyException {
  return error instanceof NotLeaderException || error instanceof LeaderNotReadyException;
}

function deadWindow(cause: Error): AlreadyClosedException {
  const text = `an earlier ordered request failed for good: ${cause.message}`;
  return new AlreadyClosedException(text, { cause });
}
