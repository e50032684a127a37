import { defineKeys } from '../key-definition.js';
import { bool, enumerationIgnoringCase, rpcTypeName } from '../text-keys.js';

/** Keys that servers and clients read. */
export const COMMON_KEYS = defineKeys('common', {
  'raft.rpc.type': rpcTypeName(
    ['GRPC', 'NETTY', 'HADOOP'],
    'GRPC',
    'Transport of requests between servers and from clients.',
  ),
  'raft.datastream.type': enumerationIgnoringCase(
    ['DISABLED', 'NETTY'],
    'DISABLED',
    'Transport of data streams; DISABLED turns them off.',
  ),
  'raft.datastream.skip.send-forward': bool(
    'false',
    "Closing a data stream resolves with the primary's reply, without a request to the leader.",
  ),
  'raft.otel.tracing.enabled': bool('false', 'Records OpenTelemetry spans in this process.'),
});
