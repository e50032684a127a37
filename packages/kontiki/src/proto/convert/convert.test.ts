import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { RaftClientReplyProtoSchema } from '../gen/ratis/common/client_pb.js';
import { loadVectors, toHex, type Vector } from '../vectors.test-support.js';
import {
  decodeClientReply,
  decodeClientRequest,
  encodeClientReply,
  encodeClientRequest,
} from '../wire/index.js';
import * as convert from './index.js';

/** Requests that were made wrong on purpose, and how they are refused (spec: wire-grpc 4.5). */
const REFUSED: Readonly<Record<string, string>> = {
  'hand-made-client-1#18': 'RAFT_ILLEGAL_ARGUMENT',
  'hand-made-client-2#11': 'RAFT_ILLEGAL_STATE',
  'hand-made-client-2#21': 'KONTIKI_MALFORMED_MESSAGE',
  'hand-made-peer#22': 'RAFT_ILLEGAL_ARGUMENT',
};

/** Every vector of a type, through its protocol object and back, gives the same bytes. */
function roundTrips(
  type: string,
  recode: (bytes: Uint8Array) => Uint8Array,
  expected: (vector: Vector) => Uint8Array = (vector) => vector.bytes,
): void {
  it(`keeps every ${type}`, () => {
    const vectors = loadVectors(type);
    assert.ok(vectors.length > 0);
    for (const vector of vectors) {
      const code = REFUSED[vector.name];
      if (code !== undefined) assert.throws(() => recode(vector.bytes), { code }, vector.name);
      else assert.equal(toHex(recode(vector.bytes)), toHex(expected(vector)), vector.name);
    }
  });
}

/** A reply as we send it: stack traces and causes of Java are not kept (spec: wire-grpc 6.2). */
function withoutStackTraces({ bytes }: Vector): Uint8Array {
  const reply = fromBinary(RaftClientReplyProtoSchema, bytes);
  const details = reply.ExceptionDetails;
  if (details.case === 'stateMachineException' || details.case === 'alreadyClosedException') {
    details.value.stacktrace = convert.EMPTY_STACK_TRACE;
  } else if (details.value !== undefined && 'stackTrace' in details.value) {
    details.value.stackTrace = new Uint8Array(0);
    details.value.cause = new Uint8Array(0);
  }
  return toBinary(RaftClientReplyProtoSchema, reply);
}

const OP_METHODS = {
  SetConfigurationRequestProto: 'setConfiguration',
  TransferLeadershipRequestProto: 'transferLeadership',
  GroupManagementRequestProto: 'groupManagement',
  SnapshotManagementRequestProto: 'snapshotManagement',
  LeaderElectionManagementRequestProto: 'leaderElectionManagement',
  GroupListRequestProto: 'groupList',
  GroupInfoRequestProto: 'groupInfo',
} as const;

describe('Conversion of messages to protocol objects and back', () => {
  roundTrips('RaftClientRequestProto', (bytes) => {
    const request = convert.clientRequestFromWire(decodeClientRequest(bytes));
    return encodeClientRequest(convert.clientRequestToWire(request));
  });
  roundTrips(
    'RaftClientReplyProto',
    (bytes) => {
      const reply = convert.clientReplyFromWire(decodeClientReply(bytes));
      return encodeClientReply(convert.clientReplyToWire(reply));
    },
    withoutStackTraces,
  );
  for (const [type, method] of Object.entries(OP_METHODS)) {
    roundTrips(type, (bytes) => {
      const request = convert.decodeAdminRequest(method, bytes);
      assert.equal(convert.adminMethodOf(request.operation), method);
      return convert.encodeAdminRequest(request);
    });
  }
  roundTrips('GroupListReplyProto', (bytes) =>
    convert.encodeGroupListReply(convert.decodeGroupListReply(bytes)),
  );
  roundTrips('GroupInfoReplyProto', (bytes) =>
    convert.encodeGroupInfoReply(convert.decodeGroupInfoReply(bytes)),
  );
  roundTrips('RequestVoteRequestProto', (bytes) =>
    convert.encodeRequestVoteRequest(convert.decodeRequestVoteRequest(bytes)),
  );
  roundTrips('RequestVoteReplyProto', (bytes) =>
    convert.encodeRequestVoteReply(convert.decodeRequestVoteReply(bytes)),
  );
  roundTrips('StartLeaderElectionRequestProto', (bytes) =>
    convert.encodeStartLeaderElectionRequest(convert.decodeStartLeaderElectionRequest(bytes)),
  );
  roundTrips('StartLeaderElectionReplyProto', (bytes) =>
    convert.encodeStartLeaderElectionReply(convert.decodeStartLeaderElectionReply(bytes)),
  );
  roundTrips('ReadIndexRequestProto', (bytes) =>
    convert.encodeReadIndexRequest(convert.decodeReadIndexRequest(bytes)),
  );
  roundTrips('ReadIndexReplyProto', (bytes) =>
    convert.encodeReadIndexReply(convert.decodeReadIndexReply(bytes)),
  );
  roundTrips('InstallSnapshotRequestProto', (bytes) =>
    convert.encodeInstallSnapshotRequest(convert.decodeInstallSnapshotRequest(bytes)),
  );
  roundTrips('InstallSnapshotReplyProto', (bytes) =>
    convert.encodeInstallSnapshotReply(convert.decodeInstallSnapshotReply(bytes)),
  );
});
