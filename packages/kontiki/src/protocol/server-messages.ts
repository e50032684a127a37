import type { RaftConfiguration } from './configuration.js';
import type { CallId, RaftGroupId, RaftPeerId } from './ids.js';
import type { RaftClientRequest } from './requests.js';
import type { TermIndex } from './term-index.js';

/**
 * Head of what servers say to each other (spec: wire-grpc 2.4, 2.5). A reply repeats the ids of its
 * request, it does not swap them.
 */
export interface ServerRpc {
  /** The peer that asked. */
  readonly requestorId: RaftPeerId;
  /** The peer that was asked. */
  readonly replyId: RaftPeerId;
  readonly groupId: RaftGroupId;
  readonly callId: CallId;
}

/** A candidate asks for a vote (spec: wire-grpc 7.2). */
export interface RequestVoteRequest extends ServerRpc {
  readonly candidateTerm: number;
  /** Undefined when the candidate has neither log nor snapshot; voters read that as (0, 0). */
  readonly candidateLastEntry: TermIndex | undefined;
  readonly preVote: boolean;
}

export interface RequestVoteReply extends ServerRpc {
  readonly granted: boolean;
  readonly term: number;
  readonly shouldShutdown: boolean;
  readonly lastEntry: TermIndex | undefined;
}

/** A leader hands over (spec: wire-grpc 7.8). */
export interface StartLeaderElectionRequest extends ServerRpc {
  /** Without it the request is refused. */
  readonly leaderLastEntry: TermIndex | undefined;
}

export interface StartLeaderElectionReply extends ServerRpc {
  readonly accepted: boolean;
}

/** A follower asks up to where it must have applied to serve a read (spec: wire-grpc 7.7). */
export interface ReadIndexRequest extends ServerRpc {
  /** The read, without its message. */
  readonly clientRequest: RaftClientRequest;
}

export interface ReadIndexReply extends ServerRpc {
  readonly success: boolean;
  /** -1 when not successful. */
  readonly readIndex: number;
}

/** One piece of one file of a snapshot (spec: wire-grpc 7.5). */
export interface FileChunk {
  /** Relative to the group's storage root, below `sm/`. */
  readonly filename: string;
  /** 0 when not told. */
  readonly totalSizeBytes: number;
  /** MD5 of the whole file; empty where it is not known yet. */
  readonly fileDigest: Uint8Array;
  readonly chunkIndex: number;
  readonly offsetBytes: number;
  readonly data: Uint8Array;
  /** The last piece of the file. */
  readonly done: boolean;
}

export interface SnapshotChunk {
  readonly kind: 'chunk';
  /** The same for all pieces of one snapshot. */
  readonly requestId: string;
  /** Counts from 0 over all files. */
  readonly requestIndex: number;
  /** Last entry that the snapshot covers. */
  readonly termIndex: TermIndex;
  readonly fileChunks: readonly FileChunk[];
  /** Size of all files. */
  readonly totalSizeBytes: number;
  /** The last piece of all. */
  readonly done: boolean;
}

export interface SnapshotNotification {
  readonly kind: 'notification';
  /** First entry that the leader still has. */
  readonly firstAvailable: TermIndex;
}

export interface InstallSnapshotRequest extends ServerRpc {
  readonly leaderTerm: number;
  /** Undefined: neither kind was sent, to be answered by CONF_MISMATCH. */
  readonly body: SnapshotChunk | SnapshotNotification | undefined;
  /** The leader's configuration; undefined leaves the follower's alone. */
  readonly lastConfiguration: RaftConfiguration | undefined;
}

export const InstallSnapshotResult = {
  SUCCESS: 0,
  NOT_LEADER: 1,
  IN_PROGRESS: 2,
  ALREADY_INSTALLED: 3,
  CONF_MISMATCH: 4,
  SNAPSHOT_INSTALLED: 5,
  SNAPSHOT_UNAVAILABLE: 6,
  SNAPSHOT_EXPIRED: 7,
} as const;
export type InstallSnapshotResult =
  (typeof InstallSnapshotResult)[keyof typeof InstallSnapshotResult];

export interface InstallSnapshotReply extends ServerRpc {
  readonly success: boolean;
  readonly term: number;
  /** May hold a value that is not known here. */
  readonly result: number;
  /** Of the kind of the request's body; always written, even when 0 (spec: wire-grpc 7.6). */
  readonly body:
    | { readonly kind: 'requestIndex'; readonly requestIndex: number }
    | { readonly kind: 'snapshotIndex'; readonly snapshotIndex: number }
    | undefined;
}
