import type { LogEntry, StateMachineBody } from '../proto/wire/types.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import type { RaftGroupId, RaftPeerId } from '../protocol/ids.js';
import type { RaftPeer, RaftPeerRole } from '../protocol/peer.js';
import type { RaftClientRequest, RoleInfo } from '../protocol/requests.js';
import type { TermIndex } from '../protocol/term-index.js';
import type { RaftStorage } from '../storage/types.js';

/** One file of a snapshot. */
export interface SnapshotFile {
  /** Absolute path. */
  readonly path: string;
  readonly sizeBytes: number;
  /** MD5, 16 bytes, when known. */
  readonly digest: Uint8Array | undefined;
}

/** A snapshot on disk: state after `termIndex` (spec: consensus 6.1). */
export interface SnapshotInfo {
  readonly termIndex: TermIndex;
  readonly files: readonly SnapshotFile[];
}

/** What a state machine gets to know of its server. */
export interface StateMachineServer {
  readonly id: RaftPeerId;
  readonly groupId: RaftGroupId;
}

/**
 * A write on its way through the state machine (spec: consensus 6.1). The same object from
 * `startTransaction` to `applyTransaction` on the leader; made from the log entry elsewhere.
 */
export interface TransactionContext {
  readonly serverRole: RaftPeerRole;
  /** The request; on the leader that took it only. */
  readonly clientRequest: RaftClientRequest | undefined;
  /**
   * What goes into the log; defaults to the request's message. Leader: may be set in
   * `startTransaction`.
   */
  logData: Uint8Array;
  /**
   * Large data that goes beside the log (spec: consensus 6.4). Leader: may be set in
   * `startTransaction`.
   */
  stateMachineData: Uint8Array | undefined;
  /** Set by `startTransaction` to refuse the request: the client gets a StateMachineException. */
  exception: Error | undefined;
  /** The entry, once it has a place in the log. */
  readonly logEntry: LogEntry | undefined;
  /** Body of `logEntry`. */
  readonly body: StateMachineBody | undefined;
  /** Free for the state machine. */
  stateMachineContext: unknown;
}

/** Large data beside the log (spec: consensus 6.4). Every call is made in log order. */
export interface StateMachineDataApi {
  /** Store the data of an entry; the log entry counts as durable only when this resolves. */
  write(entry: LogEntry, context: TransactionContext): Promise<void>;
  /** Give the data of an entry back, for a follower. */
  read(entry: LogEntry, context: TransactionContext | undefined): Promise<Uint8Array>;
  /** Make everything up to `index` durable. */
  flush(index: number): Promise<void>;
  /** Drop data of entries with an index >= `index`. */
  truncate(index: number): Promise<void>;
}

/**
 * Things that happen to a division (spec: consensus 6.2). All optional; called inside the
 * division's unit: be quick, do not call back.
 */
export interface StateMachineEvents {
  notifyLeaderChanged?(memberId: string, leaderId: RaftPeerId): void;
  notifyTermIndexUpdated?(term: number, index: number): void;
  notifyConfigurationChanged?(term: number, index: number, configuration: RaftConfiguration): void;
  notifyGroupRemove?(): void;
  notifyLogFailed?(cause: Error, entry: LogEntry | undefined): void;
  notifySnapshotInstalled?(result: string, index: number, peer: RaftPeer): void;
  notifyServerShutdown?(roleInfo: RoleInfo, allServers: boolean): void;
  notifyFollowerSlowness?(roleInfo: RoleInfo, peer: RaftPeer): void;
  notifyNotLeader?(pending: readonly TransactionContext[]): void;
  notifyLeaderReady?(): void;
  notifyExtendedNoLeader?(roleInfo: RoleInfo): void;
  notifyInstallSnapshotFromLeader?(
    roleInfo: RoleInfo,
    firstTermIndex: TermIndex,
  ): Promise<TermIndex | undefined>;
}

/**
 * The application (spec: consensus 6.1). `BaseStateMachine` gives defaults for all but
 * `applyTransaction`, `query` and `takeSnapshot`. Whatever `applyTransaction` and `query` return
 * may be a value or a promise; synchronous state machines stay synchronous.
 */
export interface StateMachine {
  /**
   * Loads the latest snapshot from `storage.stateMachineDirectory`. Called once, before the log
   * opens.
   */
  initialize(server: StateMachineServer, storage: RaftStorage): Promise<void> | void;
  /** Releases files before a snapshot is swapped in. */
  pause(): Promise<void> | void;
  /** Loads the newest snapshot from disk after `pause`. */
  reinitialize(): Promise<void> | void;
  /** After the last apply. */
  close(): Promise<void> | void;

  /** (0, -1) initially; advances with every entry, also those told by notifyTermIndexUpdated. */
  readonly lastAppliedTermIndex: TermIndex;
  /** Writes a snapshot of everything applied; its index, or -1 when there is nothing to write. */
  takeSnapshot(): Promise<number> | number;
  getLatestSnapshot(): SnapshotInfo | undefined;
  /** Deletes old snapshots; -1 keeps all (spec: storage 10.3). */
  cleanupOldSnapshots(retentionCount: number): Promise<void> | void;

  /** Read only; may run beside applies. */
  query(message: Uint8Array): Promise<Uint8Array> | Uint8Array;
  /** Stale read; `minIndex` is committed here. */
  queryStale(message: Uint8Array, minIndex: number): Promise<Uint8Array> | Uint8Array;

  /**
   * Leader: check the request, choose what is logged. Light. Set `context.exception` to refuse; a
   * throw is an error of the server.
   */
  startTransaction(context: TransactionContext): Promise<void> | void;
  /** Leader, in log order, inside the division's unit. A throw refuses the request. */
  preAppendTransaction(context: TransactionContext): void;
  /** A started transaction is not appended; `context.exception` says why. */
  cancelTransaction(context: TransactionContext): void;
  /** Every server, in log order, before the matching `applyTransaction`. */
  applyTransactionSerial(context: TransactionContext): void;
  /**
   * Every server, called in log order; must be deterministic. A rejected promise, or a thrown
   * StateMachineException, is the application's own error: the client gets it, and the entry counts
   * as applied. Any other synchronous throw is fatal and closes the division.
   */
  applyTransaction(
    context: TransactionContext,
  ): Promise<Uint8Array | undefined> | Uint8Array | undefined;

  /** Present when the machine keeps data beside the log. */
  readonly dataApi?: StateMachineDataApi | undefined;
  readonly events?: StateMachineEvents | undefined;
  /** How an entry reads in logs and dumps. */
  toStateMachineLogEntryString?(body: StateMachineBody): string;
}

/**
 * Makes the state machine of a group, also for groups found on disk; undefined refuses the group.
 */
export type StateMachineRegistry = (groupId: RaftGroupId) => StateMachine | undefined;
