import type { RaftConfiguration } from './configuration.js';
import type { RaftException } from './exceptions.js';
import type { RaftGroup } from './group.js';
import type { CallId, ClientId, RaftGroupId, RaftPeerId } from './ids.js';
import type { RaftPeer, RaftPeerRole } from './peer.js';
import type { TermIndex } from './term-index.js';

export const ReplicationLevel = {
  MAJORITY: 0,
  ALL: 1,
  MAJORITY_COMMITTED: 2,
  ALL_COMMITTED: 3,
} as const;
export type ReplicationLevel = (typeof ReplicationLevel)[keyof typeof ReplicationLevel];

/** What a client asks for (spec: client 3.1). */
export type RequestType =
  | { readonly kind: 'write'; readonly replication: ReplicationLevel }
  | {
      readonly kind: 'read';
      readonly preferNonLinearizable: boolean;
      readonly readAfterWriteConsistent: boolean;
      readonly dummy: boolean;
    }
  | { readonly kind: 'staleRead'; readonly minIndex: number }
  | { readonly kind: 'watch'; readonly index: number; readonly replication: ReplicationLevel }
  | {
      readonly kind: 'messageStream';
      readonly streamId: CallId;
      readonly messageId: CallId;
      readonly endOfRequest: boolean;
    }
  | { readonly kind: 'dataStream' }
  | { readonly kind: 'forward' };

export interface SlidingWindowEntry {
  readonly seqNum: number;
  readonly isFirst: boolean;
}

/** A client's request, as the server and the state machine see it (spec: client 3.1). */
export interface RaftClientRequest {
  readonly clientId: ClientId;
  readonly serverId: RaftPeerId;
  readonly groupId: RaftGroupId;
  readonly callId: CallId;
  readonly toLeader: boolean;
  readonly repliedCallIds: readonly CallId[];
  /** 0 is none. */
  readonly timeoutMs: number;
  readonly message: Uint8Array;
  readonly type: RequestType;
  readonly slidingWindowEntry: SlidingWindowEntry | undefined;
  /** Serialized RoutingTableProto, kept as it came. */
  readonly routingTable: Uint8Array | undefined;
  /** Serialized SpanContextProto, kept as it came. */
  readonly spanContext: Uint8Array | undefined;
}

/** How far a server has committed, as gossip tells it (spec: consensus 3.10). */
export interface CommitInfo {
  readonly server: RaftPeer;
  readonly commitIndex: number;
}

/**
 * The answer to a client or admin request (spec: client 3.3). Never success together with an
 * exception.
 */
export interface RaftClientReply {
  readonly clientId: ClientId;
  readonly serverId: RaftPeerId;
  readonly groupId: RaftGroupId;
  readonly callId: CallId;
  readonly success: boolean;
  /** The state machine's result; undefined when it returned nothing. */
  readonly message: Uint8Array | undefined;
  readonly exception: RaftException | undefined;
  /** Index of the transaction, or the index that a watch reached; 0 when there is none. */
  readonly logIndex: number;
  readonly commitInfos: readonly CommitInfo[];
}

export type SetConfigurationMode = 'SET_UNCONDITIONALLY' | 'ADD' | 'COMPARE_AND_SET';

/** The operation of an admin request (spec: wire-grpc 8). */
export type AdminOperation =
  | {
      readonly kind: 'setConfiguration';
      readonly peers: readonly RaftPeer[];
      readonly listeners: readonly RaftPeer[];
      readonly mode: SetConfigurationMode;
      readonly currentPeers: readonly RaftPeer[];
      readonly currentListeners: readonly RaftPeer[];
    }
  | { readonly kind: 'transferLeadership'; readonly newLeader: RaftPeerId | undefined }
  | { readonly kind: 'snapshotCreate'; readonly creationGap: number }
  | { readonly kind: 'electionPause' }
  | { readonly kind: 'electionResume' }
  | { readonly kind: 'groupAdd'; readonly group: RaftGroup; readonly format: boolean }
  | {
      readonly kind: 'groupRemove';
      readonly removedGroupId: RaftGroupId;
      readonly deleteDirectory: boolean;
      readonly renameDirectory: boolean;
    }
  | { readonly kind: 'groupList' }
  | { readonly kind: 'groupInfo' };

export interface AdminRequest {
  readonly clientId: ClientId;
  readonly serverId: RaftPeerId;
  readonly groupId: RaftGroupId;
  readonly callId: CallId;
  readonly toLeader: boolean;
  /** 0 is none. */
  readonly timeoutMs: number;
  readonly operation: AdminOperation;
}

export interface GroupListReply extends RaftClientReply {
  readonly groupIds: readonly RaftGroupId[];
}

export interface ServerRpcInfo {
  readonly peer: RaftPeer | undefined;
  readonly lastRpcElapsedMs: number;
}

/** What a division says of its role (spec: consensus 1.5). */
export interface RoleInfo {
  readonly self: RaftPeer;
  readonly role: RaftPeerRole;
  readonly roleElapsedMs: number;
  readonly leaderInfo?: { readonly followers: readonly ServerRpcInfo[]; readonly term: number };
  readonly followerInfo?: { readonly leader: ServerRpcInfo; readonly outstandingOp: number };
  readonly candidateInfo?: { readonly lastLeaderElapsedMs: number };
}

export interface LogInfo {
  readonly lastSnapshot: TermIndex | undefined;
  readonly applied: TermIndex | undefined;
  readonly committed: TermIndex | undefined;
  readonly lastEntry: TermIndex | undefined;
}

export interface GroupInfoReply extends RaftClientReply {
  readonly group: RaftGroup;
  readonly role: RoleInfo;
  readonly isRaftStorageHealthy: boolean;
  /** Undefined from servers that do not report it. */
  readonly conf: RaftConfiguration | undefined;
  readonly logInfo: LogInfo;
}

/**
 * WRITE, FORWARD, streams change state; reads, stale reads and watches do not (spec: consensus
 * 7.1).
 */
export function isReadOnly(type: RequestType): boolean {
  return type.kind === 'read' || type.kind === 'staleRead' || type.kind === 'watch';
}

/**
 * Content that asks for all checks of a read or watch but no answer of the state machine (spec:
 * wire-grpc 5.2).
 */
export const DUMMY_CONTENT: Uint8Array = new TextEncoder().encode('DUMMY');

export function isDummy(message: Uint8Array): boolean {
  return (
    message.length === DUMMY_CONTENT.length && message.every((byte, i) => byte === DUMMY_CONTENT[i])
  );
}
