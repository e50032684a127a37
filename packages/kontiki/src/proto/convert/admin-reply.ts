import { create } from '@bufbuild/protobuf';
import { RaftPeerRole } from '../../protocol/peer.js';
import type {
  GroupInfoReply,
  GroupListReply,
  LogInfo,
  RaftClientReply,
  RoleInfo,
  ServerRpcInfo,
} from '../../protocol/requests.js';
import {
  GroupInfoReplyProtoSchema,
  GroupListReplyProtoSchema,
  type LogInfoProto,
  type RoleInfoProto,
  RoleInfoProtoSchema,
  type ServerRpcProto,
  ServerRpcProtoSchema,
} from '../gen/ratis/common/admin_pb.js';
import { type RaftRpcReplyProto, RaftRpcReplyProtoSchema } from '../gen/ratis/common/rpc_pb.js';
import { MalformedMessageError } from '../wire/errors.js';
import { decodeUtf8, utf8Of } from '../wire/text.js';
import { commitInfoFromProto, commitInfoToProto } from './commit-info.js';
import { parseMessage, serialize } from './message.js';
import { optionalTermIndex, termIndexFields, toCallId, toInteger, toUint64 } from './numbers.js';
import {
  configurationFromProto,
  configurationToProto,
  groupFromProto,
  groupIdFromProto,
  groupToProto,
  peerFromProto,
  peerToProto,
  requireClientId,
  requireGroupId,
  requirePeerId,
} from './peer.js';

const EMPTY = new Uint8Array(0);

function headOf(reply: RaftClientReply): RaftRpcReplyProto {
  return create(RaftRpcReplyProtoSchema, {
    requestorId: reply.clientId.bytes,
    replyId: utf8Of(reply.serverId),
    raftGroupId: { id: reply.groupId.bytes },
    callId: toUint64(reply.callId),
    success: reply.success,
  });
}

/** What all replies have; these kinds carry neither message nor exception. */
function baseOf(head: RaftRpcReplyProto | undefined): RaftClientReply {
  return {
    clientId: requireClientId(head?.requestorId ?? EMPTY),
    serverId: requirePeerId(decodeUtf8(head?.replyId ?? EMPTY), 'replyId'),
    groupId: requireGroupId(head?.raftGroupId?.id),
    callId: toCallId(head?.callId ?? 0n),
    success: head?.success ?? false,
    message: undefined,
    exception: undefined,
    logIndex: 0,
    commitInfos: [],
  };
}

/** GroupListReplyProto. */
export function encodeGroupListReply(reply: GroupListReply): Uint8Array {
  return serialize(GroupListReplyProtoSchema, {
    rpcReply: headOf(reply),
    groupId: reply.groupIds.map((id) => ({ id: id.bytes })),
  });
}

/** Throws MalformedMessageError, IllegalStateException on wrong ids. */
export function decodeGroupListReply(bytes: Uint8Array): GroupListReply {
  const proto = parseMessage(GroupListReplyProtoSchema, bytes);
  return { ...baseOf(proto.rpcReply), groupIds: proto.groupId.map(groupIdFromProto) };
}

function serverRpcToProto(info: ServerRpcInfo): ServerRpcProto {
  return create(ServerRpcProtoSchema, {
    ...(info.peer === undefined ? {} : { id: peerToProto(info.peer) }),
    lastRpcElapsedTimeMs: toUint64(info.lastRpcElapsedMs),
  });
}

function serverRpcFromProto(proto: ServerRpcProto | undefined): ServerRpcInfo {
  return {
    peer: proto?.id === undefined ? undefined : peerFromProto(proto.id),
    lastRpcElapsedMs: toInteger(proto?.lastRpcElapsedTimeMs ?? 0n),
  };
}

function peerInfoFields(role: RoleInfo) {
  const { leaderInfo, followerInfo, candidateInfo } = role;
  if (leaderInfo !== undefined) {
    const value = {
      followerInfo: leaderInfo.followers.map(serverRpcToProto),
      term: toUint64(leaderInfo.term),
    };
    return { PeerInfo: { case: 'leaderInfo', value } as const };
  }
  if (followerInfo !== undefined) {
    const { leader, outstandingOp } = followerInfo;
    const value = { leaderInfo: serverRpcToProto(leader), outstandingOp };
    return { PeerInfo: { case: 'followerInfo', value } as const };
  }
  if (candidateInfo === undefined) return {};
  const value = { lastLeaderElapsedTimeMs: toUint64(candidateInfo.lastLeaderElapsedMs) };
  return { PeerInfo: { case: 'candidateInfo', value } as const };
}

function roleToProto(role: RoleInfo): RoleInfoProto {
  return create(RoleInfoProtoSchema, {
    self: peerToProto(role.self),
    role: role.role,
    roleElapsedTimeMs: toUint64(role.roleElapsedMs),
    ...peerInfoFields(role),
  });
}

function peerInfoOf(
  info: RoleInfoProto['PeerInfo'],
): Pick<RoleInfo, 'leaderInfo' | 'followerInfo' | 'candidateInfo'> {
  switch (info.case) {
    case 'leaderInfo': {
      const followers = info.value.followerInfo.map(serverRpcFromProto);
      return { leaderInfo: { followers, term: toInteger(info.value.term) } };
    }
    case 'followerInfo': {
      const { leaderInfo, outstandingOp } = info.value;
      return { followerInfo: { leader: serverRpcFromProto(leaderInfo), outstandingOp } };
    }
    case 'candidateInfo': {
      const lastLeaderElapsedMs = toInteger(info.value.lastLeaderElapsedTimeMs);
      return { candidateInfo: { lastLeaderElapsedMs } };
    }
    default:
      return {};
  }
}

const ROLES: Readonly<Record<number, RaftPeerRole>> = Object.fromEntries(
  Object.values(RaftPeerRole).map((role) => [role, role]),
);

function roleFromProto(proto: RoleInfoProto | undefined): RoleInfo {
  const role = ROLES[proto?.role ?? -1];
  if (proto?.self === undefined || role === undefined) {
    throw new MalformedMessageError('group info without a role');
  }
  return {
    self: peerFromProto(proto.self),
    role,
    roleElapsedMs: toInteger(proto.roleElapsedTimeMs),
    ...peerInfoOf(proto.PeerInfo),
  };
}

function logInfoFields(info: LogInfo) {
  const { lastSnapshot, applied, committed, lastEntry } = info;
  return {
    ...(lastSnapshot === undefined ? {} : { lastSnapshot: termIndexFields(lastSnapshot) }),
    ...(applied === undefined ? {} : { applied: termIndexFields(applied) }),
    ...(committed === undefined ? {} : { committed: termIndexFields(committed) }),
    ...(lastEntry === undefined ? {} : { lastEntry: termIndexFields(lastEntry) }),
  };
}

function logInfoFromProto(proto: LogInfoProto | undefined): LogInfo {
  return {
    lastSnapshot: optionalTermIndex(proto?.lastSnapshot),
    applied: optionalTermIndex(proto?.applied),
    committed: optionalTermIndex(proto?.committed),
    lastEntry: optionalTermIndex(proto?.lastEntry),
  };
}

/** GroupInfoReplyProto. */
export function encodeGroupInfoReply(reply: GroupInfoReply): Uint8Array {
  return serialize(GroupInfoReplyProtoSchema, {
    rpcReply: headOf(reply),
    group: groupToProto(reply.group),
    role: roleToProto(reply.role),
    isRaftStorageHealthy: reply.isRaftStorageHealthy,
    commitInfos: reply.commitInfos.map(commitInfoToProto),
    ...(reply.conf === undefined ? {} : { conf: configurationToProto(reply.conf) }),
    logInfo: logInfoFields(reply.logInfo),
  });
}

/**
 * The configuration's index does not travel: it reads as -1. Throws MalformedMessageError,
 * IllegalStateException on wrong ids, NumberOutOfRangeException.
 */
export function decodeGroupInfoReply(bytes: Uint8Array): GroupInfoReply {
  const proto = parseMessage(GroupInfoReplyProtoSchema, bytes);
  return {
    ...baseOf(proto.rpcReply),
    group: groupFromProto(proto.group),
    role: roleFromProto(proto.role),
    isRaftStorageHealthy: proto.isRaftStorageHealthy,
    commitInfos: proto.commitInfos.map(commitInfoFromProto),
    conf: proto.conf === undefined ? undefined : configurationFromProto(proto.conf, -1),
    logInfo: logInfoFromProto(proto.logInfo),
  };
}
