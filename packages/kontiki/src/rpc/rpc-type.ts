import { ConfigurationError } from '../config/errors.js';
import type { RaftProperties } from '../config/raft-properties.js';

/**
 * Checks that the transport that is used when a program gives none is the one that the
 * configuration asks for. Throws ConfigurationError.
 */
export function checkDefaultTransport(properties: RaftProperties): void {
  const key = 'raft.rpc.type';
  const type = properties.get('raft.rpc.type');
  if (type === 'GRPC') return;
  const text = `${key} = ${type}: the only transport that comes with Kontiki is GRPC`;
  throw new ConfigurationError(key, `${text}; give one of that name as an option`);
}
