import { messageOf, toError } from '../common/errors.js';
import { clientRequestFromWire } from '../proto/convert/index.js';
import { createStateMachineEntry, decodeClientRequest } from '../proto/wire/index.js';
import type { LogEntry } from '../proto/wire/types.js';
import {
  AlreadyClosedException,
  LeaderSteppingDownException,
  ResourceUnavailableException,
  ServerNotReadyException,
  StateMachineException,
} from '../protocol/exceptions.js';
import { type RaftClientRequest, ReplicationLevel } from '../protocol/requests.js';
import type { ReplySink } from '../rpc/ratis/server/handler.js';
import { recordSize } from '../storage/index.js';
import type { DivisionParts } from './division-parts.js';
import { PendingLimits } from './pending-limits.js';
import { PendingWrite, PendingWrites } from './pending-write.js';
import { ReplicationWait } from './replication-wait.js';
import { StartOrder } from './start-order.js';
import { Transaction } from './transaction-context.js';
import type { Watches } from './watches.js';

/** More than an entry's head, ids and lengths take. */
const ENTRY_HEAD_MAX_BYTES = 128;

/**
 * Writes at the leader (spec: consensus 7.2): checks, retry cache, state machine, permit, log.
 * Proposals of one turn are gathered and go to the log in one call.
 */
export class WriteRequests {
  readonly #parts: DivisionParts;
  readonly #watches: Watches;
  readonly pending = new PendingWrites();
  limits: PendingLimits;
  readonly #order = new StartOrder();
  #batch: LogEntry[] = [];
  /** Proposals that the engine has not been told are in the log. */
  #proposed = false;
  /** Truncation generation that is in force. */
  generation = 0;
  /** Told of each log index that a client's write got (spec: consensus 7.4). */
  onAppended: (request: RaftClientRequest, index: number) => void = () => undefined;

  constructor(parts: DivisionParts, watches: Watches) {
    this.#parts = parts;
    this.#watches = watches;
    this.limits = this.#newLimits();
  }

  /** This server became leader. */
  leadershipGained(): void {
    this.limits = this.#newLimits();
  }

  submit(request: RaftClientRequest, sink: ReplySink): void {
    const { retryCache, engine } = this.#parts;
    if (!this.#checkLeader(request, sink)) return;
    if (this.#isKnown(request, request, sink)) return;
    let logged = request;
    try {
      if (request.type.kind === 'forward') logged = forwardedRequest(request);
    } catch (error) {
      sink.onFailure(toError(error));
      return;
    }
    // The log knows the inner request only: after a change of the leader its ids tell a retry.
    if (logged !== request && this.#isKnown(logged, request, sink)) return;
    const transaction = Transaction.ofRequest(engine.role, logged);
    const waiting = this.#waitFor(request, sink);
    const write = new PendingWrite(request, logged, transaction, sink, waiting);
    retryCache.setPending(request.clientId.bytes, request.callId, write);
    this.#start(write);
  }

  /** True when the write of `ids` is done or under way: `request` gets its outcome (spec: R-2). */
  #isKnown(ids: RaftClientRequest, request: RaftClientRequest, sink: ReplySink): boolean {
    const { replies, retryCache } = this.#parts;
    const found = retryCache.query(ids.clientId.bytes, ids.callId);
    if (found.kind === 'absent') return false;
    if (found.kind === 'done') sink.onReply(replies.ofOutcome(request, found.outcome));
    else if (ids === request) found.pending.addWaiter(this.#waitFor(request, sink));
    else found.pending.addWaiter(withIdsOf(request, sink));
    return true;
  }

  /** Gives gathered proposals to the log, without telling the engine. */
  flushToLog(): void {
    if (this.#batch.length === 0) return;
    const batch = this.#batch;
    this.#batch = [];
    this.#parts.log.append(batch, this.generation);
  }

  /** Tells the engine once of all proposals of a turn. */
  announce(nowMs: number): void {
    if (!this.#proposed) return;
    this.#proposed = false;
    this.#parts.engine.proposed(nowMs);
  }

  get hasProposals(): boolean {
    return this.#proposed;
  }

  /**
   * Entries from `index` on are cut from the log: their clients have to try again (spec: consensus
   * 3.7).
   */
  truncate(index: number): void {
    this.#forget(this.pending.truncate(index));
  }

  /** A leader's snapshot covers entries up to `index` that were not applied here (spec: H-26). */
  skip(index: number): void {
    this.#forget(this.pending.skip(index));
  }

  #forget(writes: readonly PendingWrite[]): void {
    const error = this.#notLeader();
    for (const write of writes) {
      this.#parts.retryCache.fail(write.request.clientId.bytes, write.request.callId, write);
      write.reply(this.#parts.replies.exception(write.request, error));
    }
  }

  /**
   * The office is lost: everybody who waits is told; the entries may still be applied or cut (spec:
   * consensus 3.12).
   */
  leadershipLost(): Transaction[] {
    this.limits.close();
    const error = this.#notLeader();
    const transactions: Transaction[] = [];
    for (const write of this.pending.all()) {
      write.hasPermit = false;
      transactions.push(write.transaction);
      write.reply(this.#parts.replies.exception(write.request, error));
    }
    return transactions;
  }

  /** A pending write was applied. */
  applied(write: PendingWrite): void {
    this.pending.remove(write);
    if (write.hasPermit) this.limits.release(write.sizeBytes);
    write.hasPermit = false;
  }

  #newLimits(): PendingLimits {
    const { writeElementLimit, writeByteLimit } = this.#parts.config;
    return new PendingLimits(writeElementLimit, writeByteLimit);
  }

  #notLeader() {
    const { replies, engine, isRunning } = this.#parts;
    return replies.notLeader(isRunning(), engine.leaderId, engine.configuration);
  }

  /**
   * Replies and returns false when this is no leader that may take the write (spec: consensus 7.1).
   */
  #checkLeader(request: RaftClientRequest, sink: ReplySink): boolean {
    const { engine, replies, retryCache } = this.#parts;
    const check = engine.leaderCheck(false);
    if (check === 'ok') return true;
    if (check === 'notReady') {
      const found = retryCache.query(request.clientId.bytes, request.callId);
      const reply =
        found.kind === 'done'
          ? replies.ofOutcome(request, found.outcome)
          : replies.exception(request, replies.notReady());
      sink.onReply(reply);
      return false;
    }
    const exception =
      check === 'notLeader'
        ? this.#notLeader()
        : new LeaderSteppingDownException(`${this.#parts.memberId} is stepping down`);
    sink.onReply(replies.exception(request, exception));
    return false;
  }

  /** For a level above MAJORITY the reply waits for the replication, too (spec: consensus 7.2). */
  #waitFor(request: RaftClientRequest, sink: ReplySink): ReplySink {
    const { type } = request;
    if (type.kind !== 'write' || type.replication === ReplicationLevel.MAJORITY) return sink;
    return new ReplicationWait(request, type.replication, sink, this.#watches, this.#parts.replies);
  }

  #start(write: PendingWrite): void {
    let started: Promise<void> | void;
    try {
      started = this.#parts.stateMachine.startTransaction(write.transaction);
    } catch (error) {
      this.#refuse(write, toError(error));
      return;
    }
    const client = write.request.clientId.uuid;
    if (started === undefined) {
      if (this.#order.isFree(client)) this.#append(write);
      else this.#order.add(client, Promise.resolve(), this.#afterWait(write));
      return;
    }
    this.#order.add(client, started, this.#afterWait(write));
  }

  /** Goes on with a write that had to wait for its turn. */
  #afterWait(write: PendingWrite): (error: Error | undefined) => void {
    return (error) => {
      if (error !== undefined) this.#refuse(write, error);
      else if (!this.#parts.submit(() => this.#appendAfterWait(write))) {
        this.#refuse(write, new ServerNotReadyException(`${this.#parts.memberId} is closed`));
      }
    };
  }

  /**
   * The leader checks again, because the state machine took its time (spec: consensus 7.2 step 6).
   */
  #appendAfterWait(write: PendingWrite): void {
    const { engine, replies } = this.#parts;
    if (write.origin.isAbandoned === true) {
      this.#refuse(write, new AlreadyClosedException('an earlier request was sent back'));
      return;
    }
    if (this.#parts.isRunning() && engine.leaderCheck(false) === 'ok') {
      this.#append(write);
      return;
    }
    const error = this.#notLeader();
    this.#cancel(write, error);
    write.reply(replies.exception(write.request, error));
  }

  #append(write: PendingWrite): void {
    const { transaction } = write;
    if (transaction.exception !== undefined) {
      this.#replyRefused(write, transaction.exception);
      return;
    }
    write.sizeBytes = write.logged.message.length;
    const refusal = this.limits.acquire(write.sizeBytes);
    if (refusal !== undefined) {
      const text =
        refusal === 'closed' ? 'the leader stops' : `too many pending writes: ${refusal}`;
      this.#refuse(write, new ResourceUnavailableException(`${this.#parts.memberId}: ${text}`));
      return;
    }
    write.hasPermit = true;
    try {
      this.#checkSize(write);
      this.#parts.stateMachine.preAppendTransaction(transaction);
      this.#checkSize(write);
    } catch (error) {
      this.#refusedByMachine(write, toError(error));
      return;
    }
    this.#propose(write);
  }

  #propose(write: PendingWrite): void {
    const position = this.#parts.engine.propose(this.#parts.nowMs());
    if (position === undefined) {
      const error = this.#notLeader();
      this.#cancel(write, error);
      write.reply(this.#parts.replies.exception(write.request, error));
      return;
    }
    const entry = this.#entryAt(write, position.term, position.index);
    write.term = position.term;
    write.index = position.index;
    write.transaction.setLogEntry(entry);
    this.pending.add(write);
    this.#batch.push(entry);
    this.onAppended(write.request, position.index);
    if (this.#proposed) return;
    this.#proposed = true;
    this.#parts.settleLater();
  }

  #entryAt(write: PendingWrite, term: number, index: number): LogEntry {
    const { logged, transaction } = write;
    return createStateMachineEntry({
      term,
      index,
      logData: transaction.logData,
      data: transaction.stateMachineData,
      type: logged.type.kind === 'dataStream' || write.request !== logged ? 1 : 0,
      clientId: logged.clientId.bytes,
      callId: logged.callId,
    });
  }

  /** Before the entry is made, and without a change of leader (spec: H-29). */
  #checkSize(write: PendingWrite): void {
    const { memberId, config, engine } = this.#parts;
    const { logData, stateMachineData } = write.transaction;
    const limit = config.log.entrySizeMaxBytes;
    const bytes = logData.length + (stateMachineData?.length ?? 0);
    if (bytes + ENTRY_HEAD_MAX_BYTES <= limit) return;
    // The log's own measure: what it does not take fails it, and closes the division.
    const entry = this.#entryAt(write, engine.currentTerm, engine.lastIndex + 1);
    const exact = recordSize(Math.max(entry.fullSizeBytes, entry.stored.length));
    if (exact <= limit) return;
    throw new StateMachineException(
      memberId,
      'org.apache.ratis.server.raftlog.RaftLogIOException',
      `Log entry size ${exact} exceeds the max buffer limit of ${limit}`,
      { leaderShouldStepDown: false },
    );
  }

  #refusedByMachine(write: PendingWrite, error: Error): void {
    this.#replyRefused(write, error);
    const stepsDown = error instanceof StateMachineException ? error.leaderShouldStepDown : true;
    if (!stepsDown) return;
    const { engine, nowMs, submit } = this.#parts;
    submit(() => engine.stepDown('STATE_MACHINE_EXCEPTION', nowMs()));
  }

  #replyRefused(write: PendingWrite, error: Error): void {
    const { replies } = this.#parts;
    this.#cancel(write, error);
    write.reply(replies.exception(write.request, replies.stateMachineException(error)));
  }

  /** Ends the RPC of everybody who waits. */
  #refuse(write: PendingWrite, error: Error): void {
    this.#cancel(write, error);
    write.fail(error);
  }

  /**
   * A started transaction is not appended: its permit, its entry of the retry cache and what the
   * machine prepared go (spec: H-8, H-30).
   */
  #cancel(write: PendingWrite, error: Error): void {
    const { retryCache, stateMachine, logger } = this.#parts;
    if (write.hasPermit) this.limits.release(write.sizeBytes);
    write.hasPermit = false;
    retryCache.fail(write.request.clientId.bytes, write.request.callId, write);
    write.transaction.exception ??= error;
    try {
      stateMachine.cancelTransaction(write.transaction);
    } catch (thrown) {
      logger.log('warn', `cancelTransaction failed: ${messageOf(thrown)}`);
    }
  }
}

/** Replies of another request become those of `request`. */
function withIdsOf({ clientId, callId }: RaftClientRequest, sink: ReplySink): ReplySink {
  return {
    onReply: (reply) => sink.onReply({ ...reply, clientId, callId }),
    onFailure: (error) => sink.onFailure(error),
  };
}

/** The request inside of a FORWARD (spec: consensus 7.2). */
function forwardedRequest(request: RaftClientRequest): RaftClientRequest {
  return clientRequestFromWire(decodeClientRequest(request.message));
}
