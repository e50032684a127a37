import { create } from '@bufbuild/protobuf';
import type { RaftConfiguration } from '../../protocol/configuration.js';
import type {
  FileChunk,
  InstallSnapshotReply,
  InstallSnapshotRequest,
  SnapshotChunk,
} from '../../protocol/server-messages.js';
import { type LogEntryProto, LogEntryProtoSchema } from '../gen/ratis/common/log_pb.js';
import {
  type FileChunkProto,
  InstallSnapshotReplyProtoSchema,
  type InstallSnapshotRequestProto,
  type InstallSnapshotRequestProto_SnapshotChunkProto,
  InstallSnapshotRequestProtoSchema,
} from '../gen/ratis/common/server_pb.js';
import { MalformedMessageError } from '../wire/errors.js';
import { parseMessage, serialize } from './message.js';
import { optionalTermIndex, termIndexFields, toInteger, toUint64 } from './numbers.js';
import { configurationFromProto, configurationToProto } from './peer.js';
import { replyHead, requestHead, serverRpcOf } from './server-rpc.js';

function fileChunkFields(chunk: FileChunk) {
  const { filename, fileDigest, chunkIndex, data, done } = chunk;
  return {
    filename,
    totalSize: toUint64(chunk.totalSizeBytes),
    fileDigest,
    chunkIndex,
    offset: toUint64(chunk.offsetBytes),
    data,
    done,
  };
}

function bodyFields(body: NonNullable<InstallSnapshotRequest['body']>) {
  if (body.kind === 'notification') {
    const value = { firstAvailableTermIndex: termIndexFields(body.firstAvailable) };
    return { case: 'notification', value } as const;
  }
  const { requestId, requestIndex, done } = body;
  const value = {
    requestId,
    requestIndex,
    termIndex: termIndexFields(body.termIndex),
    fileChunks: body.fileChunks.map(fileChunkFields),
    totalSize: toUint64(body.totalSizeBytes),
    done,
  };
  return { case: 'snapshotChunk', value } as const;
}

/** The configuration travels as an entry without term (spec: wire-grpc 7.5). */
function configurationEntry(configuration: RaftConfiguration): LogEntryProto {
  return create(LogEntryProtoSchema, {
    index: toUint64(configuration.index),
    LogEntryBody: { case: 'configurationEntry', value: configurationToProto(configuration) },
  });
}

/** InstallSnapshotRequestProto. */
export function encodeInstallSnapshotRequest(request: InstallSnapshotRequest): Uint8Array {
  const { body, lastConfiguration } = request;
  return serialize(InstallSnapshotRequestProtoSchema, {
    serverRequest: requestHead(request),
    leaderTerm: toUint64(request.leaderTerm),
    ...(body === undefined ? {} : { InstallSnapshotRequestBody: bodyFields(body) }),
    ...(lastConfiguration === undefined
      ? {}
      : { lastRaftConfigurationLogEntryProto: configurationEntry(lastConfiguration) }),
  });
}

function fileChunkOf(proto: FileChunkProto): FileChunk {
  const { filename, fileDigest, chunkIndex, data, done } = proto;
  return {
    filename,
    totalSizeBytes: toInteger(proto.totalSize),
    fileDigest,
    chunkIndex,
    offsetBytes: toInteger(proto.offset),
    data,
    done,
  };
}

function chunkOf(proto: InstallSnapshotRequestProto_SnapshotChunkProto): SnapshotChunk {
  return {
    kind: 'chunk',
    requestId: proto.requestId,
    requestIndex: proto.requestIndex,
    termIndex: optionalTermIndex(proto.termIndex) ?? { term: 0, index: 0 },
    fileChunks: proto.fileChunks.map(fileChunkOf),
    totalSizeBytes: toInteger(proto.totalSize),
    done: proto.done,
  };
}

function bodyOf(proto: InstallSnapshotRequestProto): InstallSnapshotRequest['body'] {
  const body = proto.InstallSnapshotRequestBody;
  switch (body.case) {
    case 'snapshotChunk':
      return chunkOf(body.value);
    case 'notification': {
      const first = optionalTermIndex(body.value.firstAvailableTermIndex);
      return { kind: 'notification', firstAvailable: first ?? { term: 0, index: 0 } };
    }
    default:
      return undefined;
  }
}

function configurationOfEntry(entry: LogEntryProto | undefined): RaftConfiguration | undefined {
  if (entry === undefined) return undefined;
  const body = entry.LogEntryBody;
  if (body.case !== 'configurationEntry') {
    throw new MalformedMessageError('the last configuration is no configuration entry');
  }
  return configurationFromProto(body.value, toInteger(entry.index));
}

/**
 * File data are views on `bytes`. Throws MalformedMessageError, IllegalStateException on wrong ids,
 * NumberOutOfRangeException.
 */
export function decodeInstallSnapshotRequest(bytes: Uint8Array): InstallSnapshotRequest {
  const proto = parseMessage(InstallSnapshotRequestProtoSchema, bytes);
  return {
    ...serverRpcOf(proto.serverRequest),
    leaderTerm: toInteger(proto.leaderTerm),
    body: bodyOf(proto),
    lastConfiguration: configurationOfEntry(proto.lastRaftConfigurationLogEntryProto),
  };
}

function replyBodyFields(body: NonNullable<InstallSnapshotReply['body']>) {
  return body.kind === 'requestIndex'
    ? ({ case: 'requestIndex', value: body.requestIndex } as const)
    : ({ case: 'snapshotIndex', value: toUint64(body.snapshotIndex) } as const);
}

/**
 * InstallSnapshotReplyProto; the body's index is written even when it is 0 (spec: wire-grpc 2.2).
 */
export function encodeInstallSnapshotReply(reply: InstallSnapshotReply): Uint8Array {
  const { body } = reply;
  return serialize(InstallSnapshotReplyProtoSchema, {
    serverReply: replyHead(reply, reply.success),
    term: toUint64(reply.term),
    result: reply.result as 0,
    ...(body === undefined ? {} : { InstallSnapshotReplyBody: replyBodyFields(body) }),
  });
}

/** Throws MalformedMessageError, IllegalStateException on wrong ids, NumberOutOfRangeException. */
export function decodeInstallSnapshotReply(bytes: Uint8Array): InstallSnapshotReply {
  const proto = parseMessage(InstallSnapshotReplyProtoSchema, bytes);
  const body = proto.InstallSnapshotReplyBody;
  let replyBody: InstallSnapshotReply['body'];
  if (body.case === 'requestIndex') {
    replyBody = { kind: 'requestIndex', requestIndex: body.value };
  } else if (body.case === 'snapshotIndex') {
    replyBody = { kind: 'snapshotIndex', snapshotIndex: toInteger(body.value) };
  }
  return {
    ...serverRpcOf(proto.serverReply),
    success: proto.serverReply?.success ?? false,
    term: toInteger(proto.term),
    result: proto.result,
    body: replyBody,
  };
}
