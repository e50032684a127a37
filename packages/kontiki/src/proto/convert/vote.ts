import type {
  RequestVoteReply,
  RequestVoteRequest,
  StartLeaderElectionReply,
  StartLeaderElectionRequest,
} from '../../protocol/server-messages.js';
import {
  RequestVoteReplyProtoSchema,
  RequestVoteRequestProtoSchema,
  StartLeaderElectionReplyProtoSchema,
  StartLeaderElectionRequestProtoSchema,
} from '../gen/ratis/common/server_pb.js';
import { parseMessage, serialize } from './message.js';
import { optionalTermIndex, termIndexFields, toInteger, toUint64 } from './numbers.js';
import { replyHead, requestHead, serverRpcOf } from './server-rpc.js';

// Decoders of this file throw MalformedMessageError, IllegalStateException on wrong ids, and
// NumberOutOfRangeException.

/** RequestVoteRequestProto. */
export function encodeRequestVoteRequest(request: RequestVoteRequest): Uint8Array {
  const last = request.candidateLastEntry;
  return serialize(RequestVoteRequestProtoSchema, {
    serverRequest: requestHead(request),
    candidateTerm: toUint64(request.candidateTerm),
    ...(last === undefined ? {} : { candidateLastEntry: termIndexFields(last) }),
    preVote: request.preVote,
  });
}

export function decodeRequestVoteRequest(bytes: Uint8Array): RequestVoteRequest {
  const proto = parseMessage(RequestVoteRequestProtoSchema, bytes);
  return {
    ...serverRpcOf(proto.serverRequest),
    candidateTerm: toInteger(proto.candidateTerm),
    candidateLastEntry: optionalTermIndex(proto.candidateLastEntry),
    preVote: proto.preVote,
  };
}

/** RequestVoteReplyProto. */
export function encodeRequestVoteReply(reply: RequestVoteReply): Uint8Array {
  const last = reply.lastEntry;
  return serialize(RequestVoteReplyProtoSchema, {
    serverReply: replyHead(reply, reply.granted),
    term: toUint64(reply.term),
    shouldShutdown: reply.shouldShutdown,
    ...(last === undefined ? {} : { lastEntry: termIndexFields(last) }),
  });
}

export function decodeRequestVoteReply(bytes: Uint8Array): RequestVoteReply {
  const proto = parseMessage(RequestVoteReplyProtoSchema, bytes);
  return {
    ...serverRpcOf(proto.serverReply),
    granted: proto.serverReply?.success ?? false,
    term: toInteger(proto.term),
    shouldShutdown: proto.shouldShutdown,
    lastEntry: optionalTermIndex(proto.lastEntry),
  };
}

/** StartLeaderElectionRequestProto. */
export function encodeStartLeaderElectionRequest(request: StartLeaderElectionRequest): Uint8Array {
  const last = request.leaderLastEntry;
  return serialize(StartLeaderElectionRequestProtoSchema, {
    serverRequest: requestHead(request),
    ...(last === undefined ? {} : { leaderLastEntry: termIndexFields(last) }),
  });
}

export function decodeStartLeaderElectionRequest(bytes: Uint8Array): StartLeaderElectionRequest {
  const proto = parseMessage(StartLeaderElectionRequestProtoSchema, bytes);
  return {
    ...serverRpcOf(proto.serverRequest),
    leaderLastEntry: optionalTermIndex(proto.leaderLastEntry),
  };
}

/** StartLeaderElectionReplyProto. */
export function encodeStartLeaderElectionReply(reply: StartLeaderElectionReply): Uint8Array {
  return serialize(StartLeaderElectionReplyProtoSchema, {
    serverReply: replyHead(reply, reply.accepted),
  });
}

export function decodeStartLeaderElectionReply(bytes: Uint8Array): StartLeaderElectionReply {
  const proto = parseMessage(StartLeaderElectionReplyProtoSchema, bytes);
  return { ...serverRpcOf(proto.serverReply), accepted: proto.serverReply?.success ?? false };
}
