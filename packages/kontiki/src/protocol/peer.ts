import { InvalidArgumentError } from '../common/errors.js';
import type { RaftPeerId } from './ids.js';

export const RaftPeerRole = { LEADER: 0, CANDIDATE: 1, FOLLOWER: 2, LISTENER: 3 } as const;
export type RaftPeerRole = (typeof RaftPeerRole)[keyof typeof RaftPeerRole];
export type StartupRole = typeof RaftPeerRole.FOLLOWER | typeof RaftPeerRole.LISTENER;

/** Name of a role as it is printed. */
export function roleName(role: RaftPeerRole): 'LEADER' | 'CANDIDATE' | 'FOLLOWER' | 'LISTENER' {
  return (['LEADER', 'CANDIDATE', 'FOLLOWER', 'LISTENER'] as const)[role];
}

/**
 * A server as the members of a group know it (spec: client 1). Addresses are `host:port`, empty
 * when unset.
 */
export interface RaftPeer {
  readonly id: RaftPeerId;
  /** Server to server, and everything else whose own address is empty. */
  readonly address: string;
  readonly clientAddress: string;
  readonly adminAddress: string;
  readonly dataStreamAddress: string;
  /** Election priority, 0 to 2^31-1; larger wins (spec: P-1). */
  readonly priority: number;
  readonly startupRole: StartupRole;
}

/**
 * A peer from what is known of it. Throws InvalidArgumentError on an empty id or a priority out of
 * range.
 */
export function createPeer(fields: Partial<RaftPeer> & { readonly id: RaftPeerId }): RaftPeer {
  if (fields.id.length === 0) throw new InvalidArgumentError('peer id is empty');
  const priority = fields.priority ?? 0;
  if (!Number.isInteger(priority) || priority < 0 || priority > 0x7fff_ffff) {
    throw new InvalidArgumentError(`priority of peer ${fields.id} is out of range: ${priority}`);
  }
  return {
    id: fields.id,
    address: fields.address ?? '',
    clientAddress: fields.clientAddress ?? '',
    adminAddress: fields.adminAddress ?? '',
    dataStreamAddress: fields.dataStreamAddress ?? '',
    priority,
    startupRole: fields.startupRole ?? RaftPeerRole.FOLLOWER,
  };
}

export function clientAddressOf(peer: RaftPeer): string {
  return peer.clientAddress === '' ? peer.address : peer.clientAddress;
}

export function adminAddressOf(peer: RaftPeer): string {
  return peer.adminAddress === '' ? peer.address : peer.adminAddress;
}

/**
 * `id|address`, or the id alone where there is no address, as errors name a peer (spec: client 1).
 */
export function peerText(peer: RaftPeer): string {
  return peer.address === '' ? peer.id : `${peer.id}|${peer.address}`;
}

/** All fields equal; identity of a peer is its id alone. */
export function samePeer(a: RaftPeer, b: RaftPeer): boolean {
  return (
    a.id === b.id &&
    a.address === b.address &&
    a.clientAddress === b.clientAddress &&
    a.adminAddress === b.adminAddress &&
    a.dataStreamAddress === b.dataStreamAddress &&
    a.priority === b.priority &&
    a.startupRole === b.startupRole
  );
}
