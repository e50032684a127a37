import { toError } from '../../../common/errors.js';
import type { Timers } from '../../../common/runtime.js';
import {
  decodeReadIndexRequest,
  decodeRequestVoteRequest,
  decodeStartLeaderElectionRequest,
  encodeReadIndexReply,
  encodeRequestVoteReply,
  encodeStartLeaderElectionReply,
} from '../../../proto/convert/index.js';
import {
  GroupMismatchException,
  ServerNotReadyException,
  UnsupportedOperationException,
} from '../../../protocol/exceptions.js';
import { INVALID_INDEX } from '../../../protocol/term-index.js';
import type {
  ServerCall,
  ServerStream,
  ServiceDefinition,
  StreamListener,
} from '../../transport.js';
import { AppendEntriesStream } from './append-entries-stream.js';
import type { RaftServerHandler } from './handler.js';
import { Paths } from './method-paths.js';
import { statusOfError } from './status.js';

/** A leader tries a refused snapshot again at once: it is kept waiting (spec: wire-grpc 7.3.4). */
const SNAPSHOT_REFUSAL_MS = 1000;

/** RaftServerProtocolService (spec: wire-grpc 7). */
export class RaftServerProtocolService {
  readonly #handler: RaftServerHandler;
  readonly #timers: Timers;

  constructor(handler: RaftServerHandler, timers: Timers) {
    this.#handler = handler;
    this.#timers = timers;
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
        [Paths.installSnapshot]: (stream) => this.#refuseSnapshot(stream),
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

  #refuseSnapshot(stream: ServerStream): StreamListener {
    let over = false;
    return {
      onMessage: () => {
        stream.pause();
        this.#timers.schedule(
          SNAPSHOT_REFUSAL_MS,
          () => {
            if (over) return;
            const error = new UnsupportedOperationException('snapshots are not installed yet');
            stream.end(statusOfError(error));
          },
          true,
        );
      },
      onEnd: () => {
        over = true;
      },
    };
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
