import { toError } from '../common/errors.js';
import type { VoteReply, VoteRequest } from '../core/types.js';
import type { AppendEntriesRequestMessage } from '../proto/wire/types.js';
import type { RaftGroupId, RaftPeerId } from '../protocol/ids.js';
import type { AdminRequest, RaftClientRequest } from '../protocol/requests.js';
import type { InstallSnapshotRequest } from '../protocol/server-messages.js';
import type { TermIndex } from '../protocol/term-index.js';
import type {
  AppendSink,
  InstallSnapshotAnswer,
  Outcome,
  RaftServerHandler,
  ReplySink,
} from '../rpc/ratis/server/handler.js';
import type { AdminRequests } from './admin-requests.js';
import type { Division } from './division.js';

/** Finds divisions. */
export interface DivisionFinder {
  readonly id: RaftPeerId;
  /** Throws GroupMismatchException when the group is not hosted here. */
  getDivision(groupId: RaftGroupId): Division;
}

/** Routes what comes in over the services by group (spec: M-1). */
export class RequestRouter implements RaftServerHandler {
  readonly #finder: DivisionFinder;
  readonly #admin: AdminRequests;

  constructor(finder: DivisionFinder, admin: AdminRequests) {
    this.#finder = finder;
    this.#admin = admin;
  }

  get id(): RaftPeerId {
    return this.#finder.id;
  }

  submitClientRequest(request: RaftClientRequest, sink: ReplySink): void {
    this.#route(
      request.groupId,
      (division) => division.submit(request, sink),
      (error) => sink.onFailure(error),
    );
  }

  submitAdminRequest(request: AdminRequest, sink: ReplySink): void {
    this.#admin.submit(request, sink);
  }

  requestVote(groupId: RaftGroupId, request: VoteRequest, done: Outcome<VoteReply>): void {
    this.#route(
      groupId,
      (division) => division.requestVote(request, done),
      (error) => done(error, undefined),
    );
  }

  appendEntries(
    groupId: RaftGroupId,
    request: AppendEntriesRequestMessage,
    sink: AppendSink,
  ): void {
    this.#route(
      groupId,
      (division) => division.appendEntries(request, sink),
      (error) => sink.onFailure(error),
    );
  }

  readIndex(groupId: RaftGroupId, request: RaftClientRequest, done: Outcome<number>): void {
    this.#route(
      groupId,
      (division) => division.readIndex(request, done),
      (error) => done(error, undefined),
    );
  }

  installSnapshot(request: InstallSnapshotRequest, done: Outcome<InstallSnapshotAnswer>): void {
    this.#route(
      request.groupId,
      (division) => division.installSnapshot(request, done),
      (error) => done(error, undefined),
    );
  }

  startLeaderElection(
    groupId: RaftGroupId,
    leaderId: RaftPeerId,
    leaderLastEntry: TermIndex | undefined,
    done: Outcome<boolean>,
  ): void {
    this.#route(
      groupId,
      (division) => division.startLeaderElection(leaderId, leaderLastEntry, done),
      (error) => done(error, undefined),
    );
  }

  #route(
    groupId: RaftGroupId,
    to: (division: Division) => void,
    failed: (error: Error) => void,
  ): void {
    let division: Division;
    try {
      division = this.#finder.getDivision(groupId);
    } catch (error) {
      failed(toError(error));
      return;
    }
    to(division);
  }
}
