import { create } from '@bufbuild/protobuf';
import type { CommitInfo } from '../../protocol/requests.js';
import { type CommitInfoProto, CommitInfoProtoSchema } from '../gen/ratis/common/peers_pb.js';
import { MalformedMessageError } from '../wire/errors.js';
import { decodePeer, encodePeer } from '../wire/peer.js';
import type { CommitInfoMessage } from '../wire/types.js';
import { toInteger, toUint64 } from './numbers.js';
import { peerFromProto, peerToProto } from './peer.js';

/** Throws MalformedMessageError when a peer is not acceptable. */
export function commitInfosFromWire(messages: readonly CommitInfoMessage[]): CommitInfo[] {
  return messages.map(({ server, commitIndex }) => ({ server: decodePeer(server), commitIndex }));
}

/** Encodes each peer; whoever sends the same peers again and again keeps their bytes instead. */
export function commitInfosToWire(infos: readonly CommitInfo[]): CommitInfoMessage[] {
  return infos.map(({ server, commitIndex }) => ({ server: encodePeer(server), commitIndex }));
}

/** Throws MalformedMessageError when the peer is missing or not acceptable. */
export function commitInfoFromProto(proto: CommitInfoProto): CommitInfo {
  if (proto.server === undefined) throw new MalformedMessageError('commit info without a server');
  return { server: peerFromProto(proto.server), commitIndex: toInteger(proto.commitIndex) };
}

export function commitInfoToProto(info: CommitInfo): CommitInfoProto {
  return create(CommitInfoProtoSchema, {
    server: peerToProto(info.server),
    commitIndex: toUint64(info.commitIndex),
  });
}
