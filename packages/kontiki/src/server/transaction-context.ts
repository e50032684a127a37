import { stateMachineBodyOf } from '../proto/wire/index.js';
import type { LogEntry, StateMachineBody } from '../proto/wire/types.js';
import type { RaftPeerRole } from '../protocol/peer.js';
import type { RaftClientRequest } from '../protocol/requests.js';
import type { TransactionContext } from '../statemachine/types.js';

/** Names a call of a client. */
export type CallIdentity = Pick<StateMachineBody, 'clientId' | 'callId'>;

/** A write on its way through the state machine (spec: consensus 6.1). */
export class Transaction implements TransactionContext {
  readonly serverRole: RaftPeerRole;
  readonly clientRequest: RaftClientRequest | undefined;
  stateMachineData: Uint8Array | undefined = undefined;
  exception: Error | undefined = undefined;
  stateMachineContext: unknown = undefined;
  #logData: Uint8Array | undefined;
  #logEntry: LogEntry | undefined;
  #body: StateMachineBody | undefined;

  private constructor(
    role: RaftPeerRole,
    request: RaftClientRequest | undefined,
    logData: Uint8Array | undefined,
    entry: LogEntry | undefined,
  ) {
    this.serverRole = role;
    this.clientRequest = request;
    this.#logData = logData;
    this.#logEntry = entry;
    this.stateMachineData = entry?.data;
  }

  /** On the leader that took the request; `logData` starts as the request's message. */
  static ofRequest(role: RaftPeerRole, request: RaftClientRequest): Transaction {
    return new Transaction(role, request, request.message, undefined);
  }

  /** Everywhere else, from an entry of the log. */
  static ofEntry(role: RaftPeerRole, entry: LogEntry): Transaction {
    return new Transaction(role, undefined, undefined, entry);
  }

  get logData(): Uint8Array {
    return this.#logData ?? this.body?.logData ?? new Uint8Array(0);
  }

  set logData(data: Uint8Array) {
    this.#logData = data;
  }

  get logEntry(): LogEntry | undefined {
    return this.#logEntry;
  }

  /** The entry has its place in the log. */
  setLogEntry(entry: LogEntry): void {
    this.#logEntry = entry;
  }

  /** Whose write this is; undefined before a transaction that came from the log has its entry. */
  get call(): CallIdentity | undefined {
    const request = this.clientRequest;
    if (request === undefined) return this.body;
    return { clientId: request.clientId.bytes, callId: request.callId };
  }

  get body(): StateMachineBody | undefined {
    if (this.#body === undefined && this.#logEntry !== undefined) {
      this.#body = stateMachineBodyOf(this.#logEntry);
    }
    return this.#body;
  }
}
