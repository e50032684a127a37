import { messageOf } from '../../common/errors.js';
import {
  createConfiguration,
  type PeerSet,
  type RaftConfiguration,
} from '../../protocol/configuration.js';
import { createPeer, type RaftPeer, RaftPeerRole } from '../../protocol/peer.js';
import { MalformedMessageError } from './errors.js';
import { Reader } from './reader.js';
import { utf8Of } from './text.js';
import { bytesFieldSize, lengthFieldSize, numberFieldSize, Writer } from './writer.js';

function addressesSize(peer: RaftPeer): number {
  return (
    bytesFieldSize(utf8Of(peer.address).length) +
    bytesFieldSize(utf8Of(peer.dataStreamAddress).length) +
    bytesFieldSize(utf8Of(peer.clientAddress).length) +
    bytesFieldSize(utf8Of(peer.adminAddress).length)
  );
}

/**
 * RaftPeerProto. The start-up role is always written (spec: wire-grpc 2.6). Encode a peer once and
 * keep the result: commit infos repeat it in every message.
 */
export function encodePeer(peer: RaftPeer): Uint8Array {
  const id = utf8Of(peer.id);
  const writer = new Writer(
    bytesFieldSize(id.length) + addressesSize(peer) + numberFieldSize(peer.priority) + 2,
  );
  writer.bytesField(0x0a, id);
  writer.bytesField(0x12, utf8Of(peer.address));
  writer.numberField(0x18, peer.priority);
  writer.bytesField(0x22, utf8Of(peer.dataStreamAddress));
  writer.bytesField(0x2a, utf8Of(peer.clientAddress));
  writer.bytesField(0x32, utf8Of(peer.adminAddress));
  writer.byte(0x38);
  writer.byte(peer.startupRole);
  return writer.bytes;
}

interface PeerFields {
  id: string;
  address: string;
  clientAddress: string;
  adminAddress: string;
  dataStreamAddress: string;
  priority: number;
  role: number;
}

function readPeerField(reader: Reader, tag: number, fields: PeerFields): void {
  switch (tag) {
    case 0x0a:
      fields.id = reader.text();
      break;
    case 0x12:
      fields.address = reader.text();
      break;
    case 0x18:
      fields.priority = reader.uint32();
      break;
    case 0x22:
      fields.dataStreamAddress = reader.text();
      break;
    case 0x2a:
      fields.clientAddress = reader.text();
      break;
    case 0x32:
      fields.adminAddress = reader.text();
      break;
    case 0x38:
      fields.role = reader.int32();
      break;
    default:
      reader.skip(tag);
  }
}

/**
 * A start-up role from the wire. Throws MalformedMessageError unless it is FOLLOWER or LISTENER
 * (spec: wire-grpc 1.4.1).
 */
export function startupRoleOf(role: number): RaftPeer['startupRole'] {
  if (role === RaftPeerRole.FOLLOWER || role === RaftPeerRole.LISTENER) return role;
  throw new MalformedMessageError(`unexpected start-up role ${role}`);
}

/** Runs `make`, and turns an argument that it refuses into a MalformedMessageError. */
function checked<T>(make: () => T): T {
  try {
    return make();
  } catch (cause) {
    throw new MalformedMessageError(messageOf(cause), { cause });
  }
}

/**
 * RaftPeerProto. Throws MalformedMessageError, also on an empty id, a priority beyond 2^31-1 and a
 * wrong start-up role.
 */
export function decodePeer(bytes: Uint8Array): RaftPeer {
  const reader = new Reader(bytes);
  const fields: PeerFields = {
    id: '',
    address: '',
    clientAddress: '',
    adminAddress: '',
    dataStreamAddress: '',
    priority: 0,
    role: RaftPeerRole.FOLLOWER,
  };
  while (reader.pos < reader.end) readPeerField(reader, reader.tag(), fields);
  const { role, ...rest } = fields;
  const startupRole = startupRoleOf(role);
  return checked(() => createPeer({ ...rest, startupRole }));
}

function joinFields(fields: readonly (readonly [number, Uint8Array])[]): Uint8Array {
  let size = 0;
  for (const [, bytes] of fields) size += lengthFieldSize(bytes.length);
  const writer = new Writer(size);
  for (const [tag, bytes] of fields) writer.lengthField(tag, bytes);
  return writer.bytes;
}

/** RaftConfigurationProto, without its index, which belongs to the entry. */
export function encodeConfiguration(configuration: RaftConfiguration): Uint8Array {
  const { cur, old } = configuration;
  const list = (tag: number, peers: readonly RaftPeer[] = []) =>
    peers.map((peer) => [tag, encodePeer(peer)] as const);
  return joinFields([
    ...list(0x0a, cur.voters),
    ...list(0x12, old?.voters),
    ...list(0x1a, cur.listeners),
    ...list(0x22, old?.listeners),
  ]);
}

/**
 * RaftConfigurationProto of the entry at `index`. Throws MalformedMessageError, also when a peer
 * occurs twice in one side.
 */
export function decodeConfiguration(bytes: Uint8Array, index: number): RaftConfiguration {
  const lists: RaftPeer[][] = [[], [], [], []];
  const reader = new Reader(bytes);
  while (reader.pos < reader.end) {
    const tag = reader.tag();
    const list = (tag & 7) === 2 ? lists[(tag >> 3) - 1] : undefined;
    if (list === undefined) reader.skip(tag);
    else list.push(decodePeer(reader.view()));
  }
  const [voters = [], oldVoters = [], listeners = [], oldListeners = []] = lists;
  const cur: PeerSet = { voters, listeners };
  const old: PeerSet = { voters: oldVoters, listeners: oldListeners };
  return checked(() => createConfiguration(cur, old, index));
}
