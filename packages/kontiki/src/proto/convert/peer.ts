import { create } from '@bufbuild/protobuf';
import { InvalidArgumentError, messageOf } from '../../common/errors.js';
import { createConfiguration, type RaftConfiguration } from '../../protocol/configuration.js';
import { IllegalStateException } from '../../protocol/exceptions.js';
import { createGroup, type RaftGroup } from '../../protocol/group.js';
import { ClientId, RaftGroupId, type RaftPeerId } from '../../protocol/ids.js';
import { createPeer, type RaftPeer, RaftPeerRole } from '../../protocol/peer.js';
import {
  type RaftConfigurationProto,
  RaftConfigurationProtoSchema,
  type RaftGroupIdProto,
  type RaftGroupProto,
  RaftGroupProtoSchema,
  type RaftPeerProto,
  RaftPeerProtoSchema,
} from '../gen/ratis/common/peers_pb.js';
import { MalformedMessageError } from '../wire/errors.js';
import { startupRoleOf } from '../wire/peer.js';
import { decodeUtf8, utf8Of } from '../wire/text.js';
import { RecentIds } from './recent-ids.js';

const groupIds = new RecentIds(RaftGroupId.of);
const clientIds = new RecentIds(ClientId.of);

/** Runs `make`, and turns an argument that it refuses into a MalformedMessageError. */
export function checkedMessage<T>(make: () => T): T {
  try {
    return make();
  } catch (error) {
    if (!(error instanceof InvalidArgumentError)) throw error;
    throw new MalformedMessageError(messageOf(error), { cause: error });
  }
}

/**
 * A peer id in a request or reply. Throws IllegalStateException when it is empty (spec: wire-grpc
 * 2.3).
 */
export function requirePeerId(id: string, what: string): RaftPeerId {
  if (id.length === 0) throw new IllegalStateException(`${what} is empty`);
  return id;
}

/**
 * A group id in a request or reply. Throws IllegalStateException unless it has 16 bytes (spec:
 * wire-grpc 4.5).
 */
export function requireGroupId(bytes: Uint8Array | undefined): RaftGroupId {
  const id = bytes ?? new Uint8Array(0);
  if (id.length !== 16) {
    throw new IllegalStateException(`group id must have 16 bytes, but has ${id.length}`);
  }
  return groupIds.of(id);
}

/**
 * A client id in a request or reply. Throws IllegalStateException unless it has 16 bytes (spec:
 * wire-grpc 4.5).
 */
export function requireClientId(bytes: Uint8Array): ClientId {
  if (bytes.length !== 16) {
    throw new IllegalStateException(`client id must have 16 bytes, but has ${bytes.length}`);
  }
  return clientIds.of(bytes);
}

/**
 * Throws MalformedMessageError on an empty id, a priority beyond 2^31-1, a role other than FOLLOWER
 * and LISTENER.
 */
export function peerFromProto(proto: RaftPeerProto): RaftPeer {
  const startupRole = startupRoleOf(proto.startupRole ?? RaftPeerRole.FOLLOWER);
  const { address, clientAddress, adminAddress, dataStreamAddress, priority } = proto;
  return checkedMessage(() =>
    createPeer({
      id: decodeUtf8(proto.id),
      address,
      clientAddress,
      adminAddress,
      dataStreamAddress,
      priority,
      startupRole,
    }),
  );
}

export function peerToProto(peer: RaftPeer): RaftPeerProto {
  const { address, clientAddress, adminAddress, dataStreamAddress, priority, startupRole } = peer;
  return create(RaftPeerProtoSchema, {
    id: utf8Of(peer.id),
    address,
    clientAddress,
    adminAddress,
    dataStreamAddress,
    priority,
    startupRole,
  });
}

/**
 * Throws MalformedMessageError on a missing or all-zero id and on peers with equal ids (spec:
 * wire-grpc 8).
 */
export function groupFromProto(proto: RaftGroupProto | undefined): RaftGroup {
  const id = proto?.groupId?.id ?? new Uint8Array(0);
  const peers = (proto?.peers ?? []).map(peerFromProto);
  return checkedMessage(() => createGroup(RaftGroupId.of(id), peers));
}

export function groupToProto(group: RaftGroup): RaftGroupProto {
  return create(RaftGroupProtoSchema, {
    groupId: { id: group.groupId.bytes },
    peers: group.peers.map(peerToProto),
  });
}

/** Throws MalformedMessageError unless there is an id of 16 bytes. */
export function groupIdFromProto(proto: RaftGroupIdProto | undefined): RaftGroupId {
  return checkedMessage(() => RaftGroupId.of(proto?.id ?? new Uint8Array(0)));
}

/**
 * `index` is the log index of the configuration, which the message does not hold. Throws
 * MalformedMessageError.
 */
export function configurationFromProto(
  proto: RaftConfigurationProto,
  index: number,
): RaftConfiguration {
  const cur = {
    voters: proto.peers.map(peerFromProto),
    listeners: proto.listeners.map(peerFromProto),
  };
  const old = {
    voters: proto.oldPeers.map(peerFromProto),
    listeners: proto.oldListeners.map(peerFromProto),
  };
  return checkedMessage(() => createConfiguration(cur, old, index));
}

export function configurationToProto(configuration: RaftConfiguration): RaftConfigurationProto {
  const { cur, old } = configuration;
  return create(RaftConfigurationProtoSchema, {
    peers: cur.voters.map(peerToProto),
    listeners: cur.listeners.map(peerToProto),
    oldPeers: (old?.voters ?? []).map(peerToProto),
    oldListeners: (old?.listeners ?? []).map(peerToProto),
  });
}
