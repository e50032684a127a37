import type { Runtime } from '../../../common/runtime.js';
import { decodeClientReply } from '../../../proto/wire/index.js';
import {
  LeaderNotReadyException,
  NotLeaderException,
  type RaftException,
  TimeoutIOException,
} from '../../../protocol/exceptions.js';
import type { CallId } from '../../../protocol/ids.js';
import type { RaftClientReply } from '../../../protocol/requests.js';
import { LazyTimer } from './lazy-timer.js';
import type { PeerConnection } from './peer-connection.js';
import { type ReplyOwner, replyFromWire } from './reply.js';
import type { RequestStream, RequestStreamListener } from './request-stream.js';

/** Takes the answer to one request: exactly one of the arguments is defined. */
export type ReplyOutcome = (
  error: RaftException | undefined,
  reply: RaftClientReply | undefined,
) => void;

interface Pending {
  readonly deadlineMs: number;
  readonly outcome: ReplyOutcome;
}

/**
 * The long-lived `unordered` stream to one server. Replies are matched by call id (spec: wire-grpc
 * 5.5). A NotLeader or LeaderNotReady reply and the end of the stream fail every pending request
 * alike (spec: client 4.1); the next request then needs a new stream.
 */
export class UnorderedStream implements RequestStreamListener {
  readonly connection: PeerConnection;
  readonly #owner: ReplyOwner;
  readonly #runtime: Runtime;
  /** By timeout, each in the order of sending, so that the first of each is the oldest. */
  readonly #pending = new Map<number, Map<CallId, Pending>>();
  readonly #timer: LazyTimer;
  readonly #stream: RequestStream;
  #full = false;
  #held: Uint8Array[] = [];

  constructor(connection: PeerConnection, owner: ReplyOwner, runtime: Runtime) {
    this.connection = connection;
    this.#owner = owner;
    this.#runtime = runtime;
    this.#timer = new LazyTimer(runtime, (nowMs) => this.#expire(nowMs));
    this.#stream = connection.openStream('unordered', this);
  }

  get isOver(): boolean {
    return this.#stream.isOver;
  }

  /** Sends one request; `outcome` is called exactly once, never before this returns. */
  send(callId: CallId, request: Uint8Array, timeoutMs: number, outcome: ReplyOutcome): void {
    const deadlineMs = this.#runtime.clock.nowMs() + timeoutMs;
    let ofTimeout = this.#pending.get(timeoutMs);
    if (ofTimeout === undefined) {
      ofTimeout = new Map();
      this.#pending.set(timeoutMs, ofTimeout);
    }
    ofTimeout.set(callId, { deadlineMs, outcome });
    this.#timer.arm(deadlineMs);
    if (this.#full) this.#held.push(request);
    else this.#full = !this.#stream.send(request);
  }

  /** Ends the stream without telling those who wait. */
  abandon(): void {
    this.#timer.cancel();
    this.#stream.abandon(this.#takeAll().length > 0);
  }

  onReply(bytes: Uint8Array): void {
    const reply = replyFromWire(decodeClientReply(bytes), this.#owner);
    const pending = this.#take(reply.callId);
    if (pending === undefined) return; // answered, timed out or never asked
    pending.outcome(undefined, reply);
    const exception = reply.exception;
    if (exception instanceof NotLeaderException || exception instanceof LeaderNotReadyException) {
      this.#stream.fail(exception);
    }
  }

  onFailed(error: RaftException): void {
    this.#timer.cancel();
    for (const pending of this.#takeAll()) pending.outcome(error, undefined);
  }

  onDrain(): void {
    const held = this.#held;
    this.#held = [];
    this.#full = false;
    for (const [i, request] of held.entries()) {
      if (this.#stream.send(request)) continue;
      this.#full = true;
      this.#held = held.slice(i + 1);
      return;
    }
  }

  #take(callId: CallId): Pending | undefined {
    for (const ofTimeout of this.#pending.values()) {
      const pending = ofTimeout.get(callId);
      if (pending === undefined) continue;
      ofTimeout.delete(callId);
      return pending;
    }
    return undefined;
  }

  #takeAll(): Pending[] {
    const all = [...this.#pending.values()].flatMap((ofTimeout) => [...ofTimeout.values()]);
    this.#pending.clear();
    this.#held = [];
    return all;
  }

  /**
   * Fails what has waited too long: that alone, the caller decides what it means for the
   * connection.
   */
  #expire(nowMs: number): number | undefined {
    let next: number | undefined;
    for (const ofTimeout of this.#pending.values()) {
      for (const [callId, pending] of ofTimeout) {
        if (pending.deadlineMs > nowMs) {
          if (next === undefined || pending.deadlineMs < next) next = pending.deadlineMs;
          break;
        }
        ofTimeout.delete(callId);
        const target = this.connection.peer.id;
        pending.outcome(new TimeoutIOException(`no reply from ${target} in time`), undefined);
      }
    }
    return this.isOver ? undefined : next;
  }
}
