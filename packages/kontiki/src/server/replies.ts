import { messageOf } from '../common/errors.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import {
  LeaderNotReadyException,
  NotLeaderException,
  RaftException,
  StateMachineException,
} from '../protocol/exceptions.js';
import { memberIdText, type RaftGroupId, type RaftPeerId } from '../protocol/ids.js';
import type { RaftPeer } from '../protocol/peer.js';
import type { CommitInfo, RaftClientReply, RaftClientRequest } from '../protocol/requests.js';
import type { WriteOutcome } from './retry-records.js';

/** Ids that a reply repeats. */
export type ReplyIds = Pick<RaftClientRequest, 'clientId' | 'callId'>;

/** Builds the replies of one division (spec: wire-grpc 6). */
export class Replies {
  readonly #selfId: RaftPeerId;
  readonly #groupId: RaftGroupId;
  readonly #memberId: string;
  readonly #commitInfos: () => readonly CommitInfo[];

  constructor(selfId: RaftPeerId, groupId: RaftGroupId, commitInfos: () => readonly CommitInfo[]) {
    this.#selfId = selfId;
    this.#groupId = groupId;
    this.#memberId = memberIdText(selfId, groupId);
    this.#commitInfos = commitInfos;
  }

  success(ids: ReplyIds, message: Uint8Array | undefined, logIndex = 0): RaftClientReply {
    return this.#reply(ids, true, message, undefined, logIndex, this.#commitInfos());
  }

  exception(ids: ReplyIds, exception: RaftException, logIndex = 0): RaftClientReply {
    return this.#reply(ids, false, undefined, exception, logIndex, this.#commitInfos());
  }

  /** Success false without an exception: the answer to a DUMMY watch (spec: consensus 7.5). */
  empty(ids: ReplyIds): RaftClientReply {
    return this.#reply(ids, false, undefined, undefined, 0, []);
  }

  /** The reply to a write that was applied, the same whenever it is asked for (spec: I-17). */
  ofOutcome(ids: ReplyIds, outcome: WriteOutcome): RaftClientReply {
    const { failure } = outcome;
    const exception =
      failure === undefined
        ? undefined
        : new StateMachineException(this.#memberId, failure.causeClass, failure.causeMessage);
    return this.#reply(
      ids,
      exception === undefined,
      outcome.message,
      exception,
      outcome.logIndex,
      outcome.commitInfos,
    );
  }

  /**
   * A write that was applied, but not replicated as far as the client asked (spec: consensus 7.2).
   */
  withWatch(write: RaftClientReply, watch: RaftClientReply): RaftClientReply {
    return {
      ...write,
      success: watch.success,
      exception: watch.exception,
      commitInfos: watch.commitInfos,
    };
  }

  notReady(): LeaderNotReadyException {
    return new LeaderNotReadyException(this.#memberId, this.#selfId, this.#groupId.bytes);
  }

  /** Names leader and voters, unless the division does not run (spec: consensus 7.1). */
  notLeader(
    isRunning: boolean,
    leaderId: RaftPeerId | undefined,
    configuration: RaftConfiguration,
  ): NotLeaderException {
    if (!isRunning) return new NotLeaderException(this.#memberId, undefined, []);
    const voters = new Map<RaftPeerId, RaftPeer>();
    for (const peer of configuration.cur.voters) voters.set(peer.id, peer);
    for (const peer of configuration.old?.voters ?? []) {
      if (!voters.has(peer.id)) voters.set(peer.id, peer);
    }
    const leader =
      leaderId === undefined || leaderId === this.#selfId ? undefined : voters.get(leaderId);
    return new NotLeaderException(this.#memberId, leader, [...voters.values()]);
  }

  /**
   * An error of the state machine as the client gets it. A Java client makes an object of the class
   * again, so one that Java knows goes by Java's name.
   */
  stateMachineException(error: Error): StateMachineException {
    if (error instanceof StateMachineException) return error;
    const causeClass = error instanceof RaftException ? error.javaClass : error.name;
    return new StateMachineException(this.#memberId, causeClass, messageOf(error), {
      cause: error,
    });
  }

  #reply(
    ids: ReplyIds,
    success: boolean,
    message: Uint8Array | undefined,
    exception: RaftException | undefined,
    logIndex: number,
    commitInfos: readonly CommitInfo[],
  ): RaftClientReply {
    return {
      clientId: ids.clientId,
      serverId: this.#selfId,
      groupId: this.#groupId,
      callId: ids.callId,
      success,
      message,
      exception,
      logIndex,
      commitInfos,
    };
  }
}
