import type { RaftProperties } from '../config/raft-properties.js';
import type { RaftPeer } from '../protocol/peer.js';

const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

function hostOf(address: string): string {
  return address.slice(0, address.lastIndexOf(':')).replace(/^\[|\]$/g, '');
}

function portOf(address: string): string {
  return address.slice(address.lastIndexOf(':') + 1);
}

/**
 * Where a server listens when the configuration does not say it: at the ports of its own addresses
 * in the group, on every interface. One that others reach at a loopback address only does not
 * listen on any other. Ratis picks a free port here, at which nobody would look for it.
 */
export function listenAtOwnAddresses(properties: RaftProperties, self: RaftPeer): void {
  if (properties.getRaw('raft.grpc.server.port') !== undefined) return;
  if (self.address === '') return;
  properties.setRaw('raft.grpc.server.port', portOf(self.address));
  const host = hostOf(self.address);
  if (LOOPBACK.test(host)) properties.setIfUnset('raft.grpc.server.host', host);
  if (self.clientAddress !== '') {
    properties.setIfUnset('raft.grpc.client.port', portOf(self.clientAddress));
  }
  if (self.adminAddress !== '') {
    properties.setIfUnset('raft.grpc.admin.port', portOf(self.adminAddress));
  }
}
