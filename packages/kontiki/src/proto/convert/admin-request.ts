import { create } from '@bufbuild/protobuf';
import { IllegalStateException } from '../../protocol/exceptions.js';
import { createPeer } from '../../protocol/peer.js';
import type {
  AdminOperation,
  AdminRequest,
  SetConfigurationMode,
} from '../../protocol/requests.js';
import {
  GroupInfoRequestProtoSchema,
  GroupListRequestProtoSchema,
  GroupManagementRequestProtoSchema,
  LeaderElectionManagementRequestProtoSchema,
  SetConfigurationRequestProto_Mode as Mode,
  SetConfigurationRequestProtoSchema,
  SnapshotManagementRequestProtoSchema,
  TransferLeadershipRequestProtoSchema,
} from '../gen/ratis/common/admin_pb.js';
import { type RaftRpcRequestProto, RaftRpcRequestProtoSchema } from '../gen/ratis/common/rpc_pb.js';
import { MalformedMessageError } from '../wire/errors.js';
import { decodeUtf8, utf8Of } from '../wire/text.js';
import { parseMessage, serialize } from './message.js';
import { toCallId, toInteger, toUint64 } from './numbers.js';
import {
  groupFromProto,
  groupIdFromProto,
  groupToProto,
  peerFromProto,
  peerToProto,
  requireClientId,
  requireGroupId,
  requirePeerId,
} from './peer.js';

/** Methods of the admin service (spec: wire-grpc 1.2). */
export type AdminMethod =
  | 'setConfiguration'
  | 'transferLeadership'
  | 'groupManagement'
  | 'snapshotManagement'
  | 'leaderElectionManagement'
  | 'groupList'
  | 'groupInfo';

const METHODS: Readonly<Record<AdminOperation['kind'], AdminMethod>> = {
  setConfiguration: 'setConfiguration',
  transferLeadership: 'transferLeadership',
  snapshotCreate: 'snapshotManagement',
  electionPause: 'leaderElectionManagement',
  electionResume: 'leaderElectionManagement',
  groupAdd: 'groupManagement',
  groupRemove: 'groupManagement',
  groupList: 'groupList',
  groupInfo: 'groupInfo',
};

/** The method that carries an operation out. */
export function adminMethodOf(operation: AdminOperation): AdminMethod {
  return METHODS[operation.kind];
}

function headOf(request: AdminRequest): RaftRpcRequestProto {
  return create(RaftRpcRequestProtoSchema, {
    requestorId: request.clientId.bytes,
    replyId: utf8Of(request.serverId),
    raftGroupId: { id: request.groupId.bytes },
    callId: toUint64(request.callId),
    toLeader: request.toLeader,
    timeoutMs: toUint64(request.timeoutMs),
  });
}

type Operation<K extends AdminOperation['kind']> = Extract<AdminOperation, { kind: K }>;

function encodeSetConfiguration(
  rpcRequest: RaftRpcRequestProto,
  op: Operation<'setConfiguration'>,
): Uint8Array {
  return serialize(SetConfigurationRequestProtoSchema, {
    rpcRequest,
    peers: op.peers.map(peerToProto),
    listeners: op.listeners.map(peerToProto),
    mode: Mode[op.mode],
    currentPeers: op.currentPeers.map(peerToProto),
    currentListeners: op.currentListeners.map(peerToProto),
  });
}

/** Only id and start-up role of the new leader travel (spec: wire-grpc 8). */
function encodeTransfer(
  rpcRequest: RaftRpcRequestProto,
  op: Operation<'transferLeadership'>,
): Uint8Array {
  return serialize(TransferLeadershipRequestProtoSchema, {
    rpcRequest,
    ...(op.newLeader === undefined
      ? {}
      : { newLeader: peerToProto(createPeer({ id: op.newLeader })) }),
  });
}

function encodeGroupRemove(
  rpcRequest: RaftRpcRequestProto,
  op: Operation<'groupRemove'>,
): Uint8Array {
  const { deleteDirectory, renameDirectory } = op;
  const value = { groupId: { id: op.removedGroupId.bytes }, deleteDirectory, renameDirectory };
  const Op = { case: 'groupRemove', value } as const;
  return serialize(GroupManagementRequestProtoSchema, { rpcRequest, Op });
}

/** The message of the method that `adminMethodOf` names. */
export function encodeAdminRequest(request: AdminRequest): Uint8Array {
  const op = request.operation;
  const rpcRequest = headOf(request);
  switch (op.kind) {
    case 'setConfiguration':
      return encodeSetConfiguration(rpcRequest, op);
    case 'transferLeadership':
      return encodeTransfer(rpcRequest, op);
    case 'snapshotCreate': {
      const Op = { case: 'create', value: { creationGap: toUint64(op.creationGap) } } as const;
      return serialize(SnapshotManagementRequestProtoSchema, { rpcRequest, Op });
    }
    case 'electionPause': {
      const Op = { case: 'pause', value: {} } as const;
      return serialize(LeaderElectionManagementRequestProtoSchema, { rpcRequest, Op });
    }
    case 'electionResume': {
      const Op = { case: 'resume', value: {} } as const;
      return serialize(LeaderElectionManagementRequestProtoSchema, { rpcRequest, Op });
    }
    case 'groupAdd': {
      const value = { group: groupToProto(op.group), format: op.format };
      const Op = { case: 'groupAdd', value } as const;
      return serialize(GroupManagementRequestProtoSchema, { rpcRequest, Op });
    }
    case 'groupRemove':
      return encodeGroupRemove(rpcRequest, op);
    case 'groupList':
      return serialize(GroupListRequestProtoSchema, { rpcRequest });
    case 'groupInfo':
      return serialize(GroupInfoRequestProtoSchema, { rpcRequest });
  }
}

interface Parsed {
  readonly head: RaftRpcRequestProto | undefined;
  readonly operation: AdminOperation;
}

const MODES: Readonly<Record<number, SetConfigurationMode>> = {
  [Mode.SET_UNCONDITIONALLY]: 'SET_UNCONDITIONALLY',
  [Mode.ADD]: 'ADD',
  [Mode.COMPARE_AND_SET]: 'COMPARE_AND_SET',
};

function parseSetConfiguration(bytes: Uint8Array): Parsed {
  const proto = parseMessage(SetConfigurationRequestProtoSchema, bytes);
  const mode = MODES[proto.mode ?? Mode.SET_UNCONDITIONALLY];
  if (mode === undefined) throw new MalformedMessageError(`unknown mode ${proto.mode}`);
  const operation = {
    kind: 'setConfiguration',
    peers: proto.peers.map(peerFromProto),
    listeners: proto.listeners.map(peerFromProto),
    mode,
    currentPeers: proto.currentPeers.map(peerFromProto),
    currentListeners: proto.currentListeners.map(peerFromProto),
  } as const;
  return { head: proto.rpcRequest, operation };
}

function parseTransfer(bytes: Uint8Array): Parsed {
  const proto = parseMessage(TransferLeadershipRequestProtoSchema, bytes);
  const leader = proto.newLeader;
  const newLeader =
    leader === undefined ? undefined : requirePeerId(decodeUtf8(leader.id), 'new leader');
  return { head: proto.rpcRequest, operation: { kind: 'transferLeadership', newLeader } };
}

function parseGroupManagement(bytes: Uint8Array): Parsed {
  const { rpcRequest: head, Op } = parseMessage(GroupManagementRequestProtoSchema, bytes);
  if (Op.case === 'groupAdd') {
    const group = groupFromProto(Op.value.group);
    return { head, operation: { kind: 'groupAdd', group, format: Op.value.format } };
  }
  if (Op.case === 'groupRemove') {
    const { deleteDirectory, renameDirectory } = Op.value;
    const removedGroupId = groupIdFromProto(Op.value.groupId);
    const flags = { deleteDirectory, renameDirectory };
    return { head, operation: { kind: 'groupRemove', removedGroupId, ...flags } };
  }
  throw new MalformedMessageError('group management without an operation');
}

function parseSnapshotManagement(bytes: Uint8Array): Parsed {
  const { rpcRequest: head, Op } = parseMessage(SnapshotManagementRequestProtoSchema, bytes);
  if (Op.case !== 'create') {
    throw new MalformedMessageError('snapshot management without an operation');
  }
  const creationGap = toInteger(Op.value.creationGap);
  return { head, operation: { kind: 'snapshotCreate', creationGap } };
}

function parseElectionManagement(bytes: Uint8Array): Parsed {
  const { rpcRequest: head, Op } = parseMessage(LeaderElectionManagementRequestProtoSchema, bytes);
  if (Op.case === undefined) {
    throw new MalformedMessageError('leader election management without an operation');
  }
  return { head, operation: { kind: Op.case === 'pause' ? 'electionPause' : 'electionResume' } };
}

function parse(method: AdminMethod, bytes: Uint8Array): Parsed {
  switch (method) {
    case 'setConfiguration':
      return parseSetConfiguration(bytes);
    case 'transferLeadership':
      return parseTransfer(bytes);
    case 'groupManagement':
      return parseGroupManagement(bytes);
    case 'snapshotManagement':
      return parseSnapshotManagement(bytes);
    case 'leaderElectionManagement':
      return parseElectionManagement(bytes);
    case 'groupList': {
      const { rpcRequest: head } = parseMessage(GroupListRequestProtoSchema, bytes);
      return { head, operation: { kind: 'groupList' } };
    }
    case 'groupInfo': {
      const { rpcRequest: head } = parseMessage(GroupInfoRequestProtoSchema, bytes);
      return { head, operation: { kind: 'groupInfo' } };
    }
  }
}

/**
 * Group management takes the group from its operation, and ignores the one in the head (spec:
 * wire-grpc 8).
 */
function groupIdOf({ head, operation }: Parsed) {
  if (operation.kind === 'groupAdd') return operation.group.groupId;
  if (operation.kind === 'groupRemove') return operation.removedGroupId;
  return requireGroupId(head?.raftGroupId?.id);
}

function requestOf(parsed: Parsed): AdminRequest {
  const { head, operation } = parsed;
  const empty = new Uint8Array(0);
  return {
    clientId: requireClientId(head?.requestorId ?? empty),
    serverId: requirePeerId(decodeUtf8(head?.replyId ?? empty), 'replyId'),
    groupId: groupIdOf(parsed),
    callId: toCallId(head?.callId ?? 0n),
    toLeader: head?.toLeader ?? false,
    timeoutMs: toInteger(head?.timeoutMs ?? 0n),
    operation,
  };
}

/**
 * An admin request. Throws MalformedMessageError for whatever is wrong with it: a missing
 * operation, ids or modes that are not acceptable (spec: wire-grpc 4.5); NumberOutOfRangeException
 * on a number beyond 2^53.
 */
export function decodeAdminRequest(method: AdminMethod, bytes: Uint8Array): AdminRequest {
  try {
    return requestOf(parse(method, bytes));
  } catch (error) {
    if (!(error instanceof IllegalStateException)) throw error;
    throw new MalformedMessageError(error.message, { cause: error });
  }
}
