import { toError } from '../common/errors.js';
import {
  AlreadyClosedException,
  AlreadyExistsException,
  GroupMismatchException,
  LeaderNotReadyException,
  LeaderSteppingDownException,
  NotLeaderException,
  type RaftException,
  SetConfigurationException,
  StateMachineException,
  TransferLeadershipException,
} from '../protocol/exceptions.js';
import type { RaftPeerId } from '../protocol/ids.js';
import type { RaftClientReply, RequestType } from '../protocol/requests.js';
import { RpcStatusError } from '../rpc/ratis/client/status-error.js';
import type { ClientCore, Outstanding } from './client-core.js';
import { Attempts } from './retry.js';
import { Settler } from './settler.js';

/** Exceptions that end a blocking call without another attempt (spec: client 5). */
const FINAL_WHEN_BLOCKING = [
  GroupMismatchException,
  StateMachineException,
  TransferLeadershipException,
  LeaderSteppingDownException,
  AlreadyClosedException,
  AlreadyExistsException,
  SetConfigurationException,
] as const;

/** Takes the outcome of one attempt: exactly one of the arguments is defined. */
export type AttemptOutcome<R> = (error: RaftException | undefined, reply: R | undefined) => void;

/** One kind of request on a path without order. */
export interface CallPlan<R extends RaftClientReply> {
  readonly callId: number;
  /** Undefined: the leader. */
  readonly serverId: RaftPeerId | undefined;
  readonly toLeader: boolean;
  /** For the check of its size. */
  readonly content: Uint8Array | undefined;
  /** For the retry policy; admin requests have a nominal one (spec: client 3.1). */
  readonly type: RequestType;
  /** Whether the rules of blocking calls hold, or those of the unordered path. */
  readonly isBlocking: boolean;
  /** False: the first failure of an attempt is final. Default: the retry policy decides. */
  readonly isRetried?: boolean;
  /** Whether replied call ids and the leader cache are kept from the answer. */
  readonly booksReply: boolean;
  describe(): string;
  /**
   * Starts one attempt; the outcome is never given before this returns. The result ends it without
   * an outcome.
   */
  attempt(serverId: RaftPeerId, outcome: AttemptOutcome<R>): (() => void) | undefined;
}

/**
 * A request that is tried until it is answered, the policy ends it, or the caller gives up (spec:
 * client 5 and 8). Attempts of different calls know nothing of one another.
 */
export class RetryingCall<R extends RaftClientReply> extends Settler<R> implements Outstanding {
  readonly #core: ClientCore;
  readonly #plan: CallPlan<R>;
  readonly #attempts: Attempts;
  #cancel: (() => void) | undefined;
  /** Of the running attempt; outcomes of others are stale. */
  #attempt = 0;

  constructor(core: ClientCore, plan: CallPlan<R>) {
    super();
    this.#core = core;
    this.#plan = plan;
    this.#attempts = new Attempts(core.runtime.clock.nowMs());
  }

  start(signal: AbortSignal | undefined): Promise<R> {
    const refusal = this.#core.refusalOf(this.#plan.content);
    if (refusal !== undefined) this.reject(refusal);
    if (signal !== undefined && !this.isSettled) this.listenTo(signal, () => this.#finish());
    if (this.isSettled) return this.promise;
    this.#core.addOutstanding(this);
    this.#run();
    return this.promise;
  }

  onClientClosed(error: AlreadyClosedException): void {
    this.#fail(error);
  }

  #run(): void {
    if (this.isSettled) return;
    const serverId = this.#plan.serverId ?? this.#core.leader.leaderId;
    const attempt = ++this.#attempt;
    try {
      this.#cancel = this.#plan.attempt(serverId, (error, reply) => {
        if (attempt !== this.#attempt || this.isSettled) return;
        this.#cancel = undefined;
        if (reply !== undefined) this.#onReply(serverId, reply);
        else if (error !== undefined) this.#onError(serverId, error);
      });
    } catch (thrown) {
      // an address or TLS slot that cannot be used, a server that is not known
      this.#fail(toError(thrown));
    }
  }

  #onReply(serverId: RaftPeerId, reply: R): void {
    const { isBlocking } = this.#plan;
    const exception = reply.exception;
    if (exception instanceof NotLeaderException || exception instanceof LeaderNotReadyException) {
      this.#core.leader.onFailure(serverId, exception);
      this.#retry(exception, !isBlocking);
      return;
    }
    if (exception === undefined) {
      this.#book(reply);
      this.#finish();
      this.resolve(reply);
    } else if (!isBlocking) {
      this.#book(reply);
      this.#fail(exception);
    } else if (isFinalWhenBlocking(exception)) {
      this.#fail(exception);
    } else {
      this.#retry(exception);
    }
  }

  #onError(serverId: RaftPeerId, error: RaftException): void {
    if (error instanceof GroupMismatchException) {
      this.#fail(error);
      return;
    }
    if (!this.#plan.isBlocking) {
      this.#core.leader.onFailure(serverId, error);
    } else if (isFinalWhenBlocking(error) && !this.#mayHelpElsewhere(error)) {
      this.#fail(error); // the server has decided: no reason to think of another leader
      return;
    } else {
      this.#core.leader.onRpcFailure(serverId, error);
    }
    this.#retry(error);
  }

  /**
   * A connection that was closed at this end, or a server that is closing when any other will do.
   */
  #mayHelpElsewhere(error: RaftException): boolean {
    if (!(error instanceof AlreadyClosedException)) return false;
    return this.#plan.serverId === undefined || !(error.cause instanceof RpcStatusError);
  }

  /**
   * `isKnown` false hides the cause from the policy, as the blocking path does with leader
   * exceptions in replies.
   */
  #retry(cause: Error, isKnown = true): void {
    if (this.#plan.isRetried === false) {
      this.#fail(cause);
      return;
    }
    const { clock } = this.#core.runtime;
    const decision = this.#attempts.onFailure(
      this.#core.retryPolicy,
      this.#plan.type,
      isKnown ? cause : undefined,
      clock.nowMs(),
      () => this.#plan.describe(),
    );
    if (!decision.retry) {
      this.#fail(decision.error);
      return;
    }
    const next = this.#plan.serverId ?? this.#core.leader.leaderId;
    const delayMs = this.#core.delayBefore(next, decision.delayMs);
    this.#core.sleeper.sleep(delayMs, () => this.#run());
  }

  #book(reply: R): void {
    const { toLeader, booksReply, type, callId } = this.#plan;
    if (toLeader && booksReply) this.#core.onReply(type, callId, reply);
  }

  #fail(error: Error): void {
    this.#finish();
    this.reject(error);
  }

  #finish(): void {
    this.#core.removeOutstanding(this);
    this.#attempt++;
    this.#cancel?.();
    this.#cancel = undefined;
  }
}

function isFinalWhenBlocking(error: RaftException): boolean {
  return FINAL_WHEN_BLOCKING.some((type) => error instanceof type);
}
