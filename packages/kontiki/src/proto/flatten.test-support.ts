import { create, toBinary } from '@bufbuild/protobuf';
import type { RaftClientReplyProto, RaftClientRequestProto } from './gen/ratis/common/client_pb.js';
import { RaftClientReplyProtoSchema } from './gen/ratis/common/client_pb.js';
import {
  type LogEntryProto,
  LogEntryProtoSchema,
  StateMachineEntryProtoSchema,
} from './gen/ratis/common/log_pb.js';
import { type CommitInfoProto, RaftPeerProtoSchema } from './gen/ratis/common/peers_pb.js';
import { RoutingTableProtoSchema, SpanContextProtoSchema } from './gen/ratis/common/rpc_pb.js';
import type {
  AppendEntriesReplyProto,
  AppendEntriesRequestProto,
} from './gen/ratis/common/server_pb.js';
import {
  type AppendEntriesReplyMessage,
  type AppendEntriesRequestMessage,
  type ClientReplyMessage,
  ClientRequestCase,
  type ClientRequestMessage,
  type CommitInfoMessage,
  EntryKind,
  type LogEntry,
} from './wire/index.js';

/** Generated messages in the flat form of the hand codec, made without its help. */

const EMPTY = new Uint8Array(0);
const text = (bytes: Uint8Array | undefined) => new TextDecoder().decode(bytes ?? EMPTY);

export function signed(value: bigint | undefined): number | bigint {
  const exact = BigInt.asIntN(64, value ?? 0n);
  return BigInt(Number(exact)) === exact && Math.abs(Number(exact)) < 2 ** 53
    ? Number(exact)
    : exact;
}

const safe = (value: bigint | undefined) => Number(signed(value));

function typeFields(proto: RaftClientRequestProto): Partial<ClientRequestMessage> {
  const { Type } = proto;
  switch (Type.case) {
    case 'write':
      return { type: ClientRequestCase.WRITE, replication: Type.value.replication };
    case 'read': {
      const { preferNonLinearizable, readAfterWriteConsistent, dummy } = Type.value;
      const flags = { preferNonLinearizable, readAfterWriteConsistent, dummy };
      return { type: ClientRequestCase.READ, ...flags };
    }
    case 'staleRead':
      return { type: ClientRequestCase.STALE_READ, index: signed(Type.value.minIndex) };
    case 'watch': {
      const { index, replication } = Type.value;
      return { type: ClientRequestCase.WATCH, index: signed(index), replication };
    }
    case 'messageStream': {
      const { streamId, messageId, endOfRequest } = Type.value;
      return {
        type: ClientRequestCase.MESSAGE_STREAM,
        streamId: signed(streamId),
        messageId: signed(messageId),
        endOfRequest,
      };
    }
    case 'dataStream':
      return { type: ClientRequestCase.DATA_STREAM };
    case 'forward':
      return { type: ClientRequestCase.FORWARD };
    default:
      return {};
  }
}

export function flatClientRequest(proto: RaftClientRequestProto): ClientRequestMessage {
  const head = proto.rpcRequest;
  const span = head?.spanContext;
  const routing = head?.routingTable;
  const window = head?.slidingWindowEntry;
  return {
    requestorId: head?.requestorId ?? EMPTY,
    replyId: text(head?.replyId),
    raftGroupId: head?.raftGroupId?.id ?? EMPTY,
    callId: signed(head?.callId),
    toLeader: head?.toLeader ?? false,
    spanContext: span === undefined ? undefined : toBinary(SpanContextProtoSchema, span),
    routingTable: routing === undefined ? undefined : toBinary(RoutingTableProtoSchema, routing),
    repliedCallIds: (head?.repliedCallIds ?? []).map(signed),
    timeoutMs: signed(head?.timeoutMs),
    seqNum: window === undefined ? undefined : signed(window.seqNum),
    isFirst: window?.isFirst ?? false,
    content: proto.message?.content,
    type: ClientRequestCase.NOT_SET,
    replication: 0,
    preferNonLinearizable: false,
    readAfterWriteConsistent: false,
    dummy: false,
    index: 0,
    streamId: 0,
    messageId: 0,
    endOfRequest: false,
    ...typeFields(proto),
  };
}

function flatCommitInfos(infos: readonly CommitInfoProto[]): CommitInfoMessage[] {
  return infos.map((info) => ({
    server: info.server === undefined ? EMPTY : toBinary(RaftPeerProtoSchema, info.server),
    commitIndex: safe(info.commitIndex),
  }));
}

/** The serialized exception and its field number, cut out of a reply that holds nothing else. */
function exceptionFields(proto: RaftClientReplyProto): [number, Uint8Array | undefined] {
  const { ExceptionDetails } = proto;
  if (ExceptionDetails.case === undefined) return [0, undefined];
  const alone = create(RaftClientReplyProtoSchema, { ExceptionDetails });
  const bytes = toBinary(RaftClientReplyProtoSchema, alone);
  let start = 1;
  while ((bytes[start] ?? 0) >= 0x80) start++;
  return [(bytes[0] ?? 0) >> 3, bytes.subarray(start + 1)];
}

export function flatClientReply(proto: RaftClientReplyProto): ClientReplyMessage {
  const head = proto.rpcReply;
  const [exceptionCase, exception] = exceptionFields(proto);
  return {
    requestorId: head?.requestorId ?? EMPTY,
    replyId: text(head?.replyId),
    raftGroupId: head?.raftGroupId?.id ?? EMPTY,
    callId: signed(head?.callId),
    success: head?.success ?? false,
    content: proto.message?.content,
    exceptionCase,
    exception,
    logIndex: signed(proto.logIndex),
    commitInfos: flatCommitInfos(proto.commitInfos),
  };
}

const KINDS = {
  stateMachineLogEntry: EntryKind.STATE_MACHINE,
  configurationEntry: EntryKind.CONFIGURATION,
  metadataEntry: EntryKind.METADATA,
} as const;

/** A full entry as the codec gives it (spec: storage 8). */
export function flatEntry(proto: LogEntryProto): LogEntry {
  const full = toBinary(LogEntryProtoSchema, proto);
  const body = proto.LogEntryBody;
  const separate = body.case === 'stateMachineLogEntry' ? body.value.stateMachineEntry : undefined;
  let stored = full;
  if (body.case === 'stateMachineLogEntry' && separate !== undefined) {
    const stateMachineEntry = create(StateMachineEntryProtoSchema, {
      logEntryProtoSerializedSize: full.length,
    });
    stored = toBinary(
      LogEntryProtoSchema,
      create(LogEntryProtoSchema, {
        ...proto,
        LogEntryBody: { case: body.case, value: { ...body.value, stateMachineEntry } },
      }),
    );
  }
  return {
    term: safe(proto.term),
    index: safe(proto.index),
    kind: body.case === undefined ? EntryKind.NONE : KINDS[body.case],
    stored,
    data: separate?.stateMachineData,
    hasData: separate !== undefined,
    fullSizeBytes: full.length,
  };
}

export function flatAppendRequest(proto: AppendEntriesRequestProto): AppendEntriesRequestMessage {
  const head = proto.serverRequest;
  const previous = proto.previousLog;
  const span = head?.spanContext;
  return {
    requestorId: text(head?.requestorId),
    replyId: text(head?.replyId),
    raftGroupId: head?.raftGroupId?.id ?? EMPTY,
    callId: signed(head?.callId),
    leaderTerm: safe(proto.leaderTerm),
    previousTerm: previous === undefined ? undefined : safe(previous.term),
    previousIndex: previous === undefined ? undefined : safe(previous.index),
    leaderCommit: safe(proto.leaderCommit),
    initializing: proto.initializing,
    commitInfos: flatCommitInfos(proto.commitInfos),
    spanContext: span === undefined ? undefined : toBinary(SpanContextProtoSchema, span),
    entries: proto.entries.map(flatEntry),
  };
}

export function flatAppendReply(proto: AppendEntriesReplyProto): AppendEntriesReplyMessage {
  const head = proto.serverReply;
  return {
    requestorId: text(head?.requestorId),
    replyId: text(head?.replyId),
    raftGroupId: head?.raftGroupId?.id ?? EMPTY,
    callId: signed(head?.callId),
    success: head?.success ?? false,
    term: safe(proto.term),
    nextIndex: safe(proto.nextIndex),
    result: proto.result,
    followerCommit: safe(proto.followerCommit),
    matchIndex: safe(proto.matchIndex),
    isHeartbeat: proto.isHearbeat,
  };
}
