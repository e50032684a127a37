import { InvalidArgumentError } from '../common/errors.js';
import { createPeer, type RaftPeer } from './peer.js';

const MAX_PORTS = 4;

/** The host at the start of a text, brackets of an IPv6 address kept, and what follows it. */
function splitHost(text: string): [host: string, rest: string] | undefined {
  const match = /^(\[[0-9a-fA-F:.%\w]+\]|[^:[\]\s]+):(.+)$/.exec(text);
  return match?.[1] === undefined || match[2] === undefined ? undefined : [match[1], match[2]];
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 0xffff;
}

/**
 * A peer from `name:host:port[:dataStreamPort[:clientPort[:adminPort]]]` (spec: examples 1). Every
 * further port belongs to the same host; ports beyond the fourth are ignored. Throws
 * InvalidArgumentError.
 */
export function parsePeer(text: string): RaftPeer {
  const colon = text.indexOf(':');
  const parts = colon <= 0 ? undefined : splitHost(text.slice(colon + 1));
  const ports = parts?.[1].split(':') ?? [];
  if (parts === undefined || !ports.slice(0, MAX_PORTS).every(isPort) || ports.includes('')) {
    throw new InvalidArgumentError(
      `Raft peer ${text} is not a legitimate format. ` +
        '(format: name:host:port:dataStreamPort:clientPort:adminPort)',
    );
  }
  const [host] = parts;
  const [address = '', dataStreamAddress = '', clientAddress = '', adminAddress = ''] = ports
    .slice(0, MAX_PORTS)
    .map((port) => `${host}:${port}`);
  const id = text.slice(0, colon);
  return createPeer({ id, address, dataStreamAddress, clientAddress, adminAddress });
}

/** Peers separated by commas. Throws InvalidArgumentError. */
export function parsePeers(text: string): RaftPeer[] {
  return text.split(',').map((peer) => parsePeer(peer.trim()));
}
