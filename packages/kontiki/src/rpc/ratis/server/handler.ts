import type { VoteReply, VoteRequest } from '../../../core/types.js';
import type {
  AppendEntriesReplyMessage,
  AppendEntriesRequestMessage,
} from '../../../proto/wire/types.js';
import type { RaftGroupId, RaftPeerId } from '../../../protocol/ids.js';
import type {
  AdminRequest,
  RaftClientReply,
  RaftClientRequest,
} from '../../../protocol/requests.js';
import type {
  InstallSnapshotReply,
  InstallSnapshotRequest,
} from '../../../protocol/server-messages.js';
import type { TermIndex } from '../../../protocol/term-index.js';

/** Takes the outcome of one client request: exactly one of the two is called, once. */
export interface ReplySink {
  /**
   * An earlier request of the same ordered stream was sent back, or the stream was ended from this
   * side: a request that has no place in the log yet must not get one, because it would overtake.
   */
  readonly isAbandoned?: boolean;
  /** A reply, successful or with an exception that replies can carry (spec: consensus 7.9). */
  onReply(reply: RaftClientReply): void;
  /** An error that ends the RPC. */
  onFailure(error: Error): void;
}

/** Takes the outcome of one append request. */
export interface AppendSink {
  onReply(reply: AppendEntriesReplyMessage): void;
  onFailure(error: Error): void;
  /** The log's queue is full: read no more from this leader until `resume`. */
  pause(): void;
  resume(): void;
}

/** A reply without its head, which repeats that of the request. */
export type InstallSnapshotAnswer = Pick<
  InstallSnapshotReply,
  'success' | 'term' | 'result' | 'body'
>;

/** Outcome of a call between servers: an error, or a value. */
export type Outcome<T> = (error: Error | undefined, value: T | undefined) => void;

/**
 * What the Ratis services ask of the server that hosts the divisions. Errors of routing go to the
 * sinks, too.
 */
export interface RaftServerHandler {
  readonly id: RaftPeerId;
  submitClientRequest(request: RaftClientRequest, sink: ReplySink): void;
  submitAdminRequest(request: AdminRequest, sink: ReplySink): void;
  requestVote(groupId: RaftGroupId, request: VoteRequest, done: Outcome<VoteReply>): void;
  appendEntries(groupId: RaftGroupId, request: AppendEntriesRequestMessage, sink: AppendSink): void;
  /**
   * The read index for a request that came to another server, which sends it without its message
   * (spec: consensus 7.4).
   */
  readIndex(groupId: RaftGroupId, request: RaftClientRequest, done: Outcome<number>): void;
  /** A piece of a snapshot, or the notice of one (spec: wire-grpc 7.5). */
  installSnapshot(request: InstallSnapshotRequest, done: Outcome<InstallSnapshotAnswer>): void;
  /** True when this server campaigns (spec: consensus 2.9). */
  startLeaderElection(
    groupId: RaftGroupId,
    leaderId: RaftPeerId,
    leaderLastEntry: TermIndex | undefined,
    done: Outcome<boolean>,
  ): void;
}
