import { toError } from '../../../common/errors.js';
import {
  decodeReadIndexRequest,
  decodeRequestVoteRequest,
  decodeStartLeaderElectionRequest,
  encodeReadIndexReply,
  encodeRequestVoteReply,
  encodeStartLeaderElectionReply,
} from '../../../proto/convert/index.js';
import { GroupMismatchException, ServerNotReadyException } from '../../../protocol/exceptions.js';
import { INVALID_INDEX } from '../../../protocol/term-index.js';
import type { ServerCall, ServiceDefinition } from '../../transport.js';
import { AppendEntriesStream } from './append-entries-stream.js';
import type { RaftServerHandler } from './handler.js';
import { InstallSnapshotStream } from './install-snapshot-stream.js';
import { Paths } from './method-paths.js';
import { statusOfError } from './status.js';

/** RaftServerProtocolService (spec: wire-grpc 7). */
export class RaftServerProtocolService {
  readonly #handler: RaftServerHandler;

  constructor(handler: RaftServerHandler) {
    this.#handler = handler;
  }

  get definition(): ServiceDefinition {
    return {
      unary: {
        [Paths.requestVote]: answering((call) => this.#requestVote(call)),
        [Paths.readIndex]: answering((call) => this.#readIndex(call)),
        [Paths.startLeaderElection]: answering((call) => this.#startLeaderElection(call)),
      },
      streams: {
        [Paths.appendEntries]: (stream) => new AppendEntriesStream(stream, this.#handler),
        [Paths.installSnapshot]: (stream) => new InstallSnapshotStream(stream, this.#handler),
      },
    };
  }

  #requestVote(call: ServerCall): void {
    const request = decodeRequestVoteRequest(call.request);
    const vote = {
      candidateId: request.requestorId,
      candidateTerm: request.candidateTerm,
      candidateLastEntry: request.candidateLastEntry,
      preVote: request.preVote,
    };
    this.#handler.requestVote(request.groupId, vote, (error, reply) => {
      if (reply === undefined) call.fail(statusOfError(error ?? new Error('no vote')));
      else call.reply(encodeRequestVoteReply({ ...headOf(request), ...reply }));
    });
  }

  #readIndex(call: ServerCall): void {
    const request = decodeReadIndexRequest(call.request);
    this.#handler.readIndex(request.groupId, request.clientRequest, (error, index) => {
      if (error instanceof ServerNotReadyException || error instanceof GroupMismatchException) {
        call.fail(statusOfError(error));
        return;
      }
      const success = index !== undefined;
      const readIndex = index ?? INVALID_INDEX;
      call.reply(encodeReadIndexReply({ ...headOf(request), success, readIndex }));
    });
  }

  #startLeaderElection(call: ServerCall): void {
    const request = decodeStartLeaderElectionRequest(call.request);
    const { groupId, requestorId, leaderLastEntry } = request;
    this.#handler.startLeaderElection(groupId, requestorId, leaderLastEntry, (error, accepted) => {
      if (accepted === undefined) call.fail(statusOfError(error ?? new Error('refused')));
      else call.reply(encodeStartLeaderElectionReply({ ...headOf(request), accepted }));
    });
  }
}

type Head = Parameters<typeof encodeReadIndexReply>[0];

function headOf(request: Pick<Head, 'requestorId' | 'replyId' | 'groupId' | 'callId'>) {
  const { requestorId, replyId, groupId, callId } = request;
  return { requestorId, replyId, groupId, callId };
}

/** A handler whose throw fails the call. */
function answering(handler: (call: ServerCall) => void): (call: ServerCall) => void {
  return (call) => {
    try {
      handler(call);
    } catch (error) {
      call.fail(statusOfError(toError(error)));
    }
  };
}
