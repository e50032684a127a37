import { create, type DescMessage, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import {
  RaftClientReplyProtoSchema,
  RaftClientRequestProtoSchema,
} from './gen/ratis/common/client_pb.js';
import { LogEntryProtoSchema } from './gen/ratis/common/log_pb.js';
import {
  AppendEntriesReplyProtoSchema,
  AppendEntriesRequestProtoSchema,
} from './gen/ratis/common/server_pb.js';

/** Random messages with the generated code, as serialized bytes in canonical form. */

const bytes = (maxLength: number) => fc.uint8Array({ maxLength });
const filled = (maxLength: number) => fc.uint8Array({ minLength: 1, maxLength });
const utf8 = fc.string({ maxLength: 80, unit: 'binary' }).map((s) => new TextEncoder().encode(s));
/** All 64 bits, with the edges more often. */
export const uint64 = fc.oneof(
  fc.bigInt({ min: 0n, max: 300n }),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
  fc.constantFrom(2n ** 28n, 2n ** 32n, 2n ** 53n - 1n, 2n ** 53n, 2n ** 63n, 2n ** 64n - 1n),
);
/** What terms and indices may be. */
export const index = fc.oneof(
  fc.bigInt({ min: 0n, max: 300n }),
  fc.bigInt({ min: 0n, max: 2n ** 53n - 1n }),
  fc.constantFrom(2n ** 64n - 1n, 2n ** 28n - 1n, 2n ** 31n, 2n ** 35n, 2n ** 49n),
);
const id16 = fc.uint8Array({ minLength: 16, maxLength: 16 });
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

/** Drops members that are undefined: the generated code knows them only as absent. */
function compact<T extends object>(fields: T): T {
  return Object.fromEntries(Object.entries(fields).filter(([, v]) => v !== undefined)) as T;
}

const record = <T extends object>(model: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(model).map((fields) => compact(fields));

const peer = record({
  id: utf8,
  address: fc.string({ maxLength: 20 }),
  priority: fc.nat(),
  clientAddress: fc.constantFrom('', 'a:1'),
  adminAddress: fc.constantFrom('', 'b:2'),
  dataStreamAddress: fc.constantFrom('', 'é:3'),
  startupRole: fc.constantFrom(2, 3, undefined),
});
const commitInfos = fc.array(record({ server: peer, commitIndex: index }), { maxLength: 4 });
const span = record({ context: fc.constantFrom({}, { traceparent: '00-ab' }) });
const groupId = optional(record({ id: id16 }));
const route = record({ peerId: record({ id: utf8 }), successors: fc.constant([]) });

const requestHead = record({
  requestorId: bytes(20),
  replyId: utf8,
  raftGroupId: groupId,
  callId: uint64,
  toLeader: fc.boolean(),
  spanContext: optional(span),
  repliedCallIds: fc.array(uint64, { maxLength: 5 }),
  timeoutMs: uint64,
  routingTable: optional(record({ routes: fc.array(route, { maxLength: 2 }) })),
  slidingWindowEntry: optional(record({ seqNum: uint64, isFirst: fc.boolean() })),
});
const replyHead = record({
  requestorId: utf8,
  replyId: utf8,
  raftGroupId: groupId,
  callId: uint64,
  success: fc.boolean(),
});
const content = optional(record({ content: bytes(40) }));
const replication = fc.integer({ min: 0, max: 3 });

const requestType = fc.oneof(
  record({ case: fc.constant('write'), value: record({ replication }) }),
  record({
    case: fc.constant('read'),
    value: record({
      preferNonLinearizable: fc.boolean(),
      readAfterWriteConsistent: fc.boolean(),
      dummy: fc.boolean(),
    }),
  }),
  record({ case: fc.constant('staleRead'), value: record({ minIndex: uint64 }) }),
  record({ case: fc.constant('watch'), value: record({ index: uint64, replication }) }),
  record({
    case: fc.constant('messageStream'),
    value: record({ streamId: uint64, messageId: uint64, endOfRequest: fc.boolean() }),
  }),
  fc.constantFrom({ case: 'dataStream', value: {} }, { case: 'forward', value: {} }),
  fc.constant({ case: undefined }),
);

const throwable = record({ className: fc.string(), errorMessage: fc.string() });
const exception = fc.oneof(
  record({
    case: fc.constant('notLeaderException'),
    value: record({ suggestedLeader: optional(peer), peersInConf: fc.array(peer) }),
  }),
  record({ case: fc.constant('readException'), value: throwable }),
  record({ case: fc.constant('readIndexException'), value: throwable }),
  record({ case: fc.constant('leaderNotReadyException'), value: fc.constant({}) }),
  fc.constant({ case: undefined }),
);

const configuration = record({
  peers: fc.array(peer, { maxLength: 3 }),
  oldPeers: fc.array(peer, { maxLength: 2 }),
  listeners: fc.array(peer, { maxLength: 2 }),
});
const stateMachineBody = record({
  logData: bytes(60),
  stateMachineEntry: optional(record({ stateMachineData: filled(200) })),
  type: fc.constantFrom(0, 1),
  clientId: bytes(16),
  callId: uint64,
});
const entryBody = fc.oneof(
  record({ case: fc.constant('stateMachineLogEntry'), value: stateMachineBody }),
  record({ case: fc.constant('configurationEntry'), value: configuration }),
  record({ case: fc.constant('metadataEntry'), value: record({ commitIndex: index }) }),
  fc.constant({ case: undefined }),
);
const entry = record({ term: index, index, LogEntryBody: entryBody });
const position = record({ term: index, index });

const serialized = (schema: DescMessage, fields: fc.Arbitrary<object>) =>
  fields.map((init) => toBinary(schema, create(schema, init as MessageInitShape<DescMessage>)));

export const entryBytes = serialized(LogEntryProtoSchema, entry);

/** Serialized random messages, by message name. */
export const ARBITRARY: Readonly<Record<string, fc.Arbitrary<Uint8Array>>> = {
  RaftClientRequestProto: serialized(
    RaftClientRequestProtoSchema,
    record({ rpcRequest: requestHead, message: content, Type: requestType }),
  ),
  RaftClientReplyProto: serialized(
    RaftClientReplyProtoSchema,
    record({
      rpcReply: replyHead,
      message: content,
      ExceptionDetails: exception,
      logIndex: uint64,
      commitInfos,
    }),
  ),
  AppendEntriesRequestProto: serialized(
    AppendEntriesRequestProtoSchema,
    record({
      serverRequest: record({
        requestorId: utf8,
        replyId: utf8,
        raftGroupId: groupId,
        callId: uint64,
        spanContext: optional(span),
      }),
      leaderTerm: index,
      previousLog: optional(position),
      entries: fc.array(entry, { maxLength: 5 }),
      leaderCommit: index,
      initializing: fc.boolean(),
      commitInfos,
    }),
  ),
  AppendEntriesReplyProto: serialized(
    AppendEntriesReplyProtoSchema,
    record({
      serverReply: replyHead,
      term: index,
      nextIndex: index,
      result: fc.integer({ min: 0, max: 3 }),
      followerCommit: index,
      matchIndex: index,
      isHearbeat: fc.boolean(),
    }),
  ),
};
