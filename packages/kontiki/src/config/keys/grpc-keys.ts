import { defineKeys } from '../key-definition.js';
import { duration, fallbackTo, INT_MAX, int, size } from '../number-keys.js';
import { bool, optionalText } from '../text-keys.js';

const SERVER_HOST = fallbackTo('raft.grpc.server.host');
const PORT = { min: 0, max: 65_536, note: '0 is any free port' };
const OTHER_PORT = {
  min: -1,
  max: 65_536,
  unsetValue: -1,
  fallback: fallbackTo('raft.grpc.server.port'),
  note: '-1 is not set',
};
const THREADS = { min: 0, max: 65_536 };
const GROUP = { ...THREADS, note: '0 shares the calling thread' };
const ZERO_OR_MORE = { min: 0 };
const CONNECTIONS = { min: 1, max: 1024 };

/** Keys of the gRPC transport. */
export const GRPC_KEYS = defineKeys('grpc', {
  'raft.grpc.use-epoll': bool(
    'true',
    'Choice of event loop in Ratis; without effect here, where libuv chooses.',
  ),
  'raft.grpc.message.size.max': size('64MB', 'Longest message that is sent or taken.', {
    max: INT_MAX,
    note: 'at least 1MB above raft.server.log.appender.buffer.byte-limit',
  }),
  'raft.grpc.flow.control.window': size('1MB', 'HTTP/2 flow-control window of each stream.', {
    max: INT_MAX,
  }),
  'raft.grpc.admin.host': optionalText('Host of the admin listener, where that has its own port.', {
    fallback: SERVER_HOST,
  }),
  'raft.grpc.admin.port': int('-1', 'Port of the admin listener.', OTHER_PORT),
  'raft.grpc.client.host': optionalText(
    'Host of the client listener, where that has its own port.',
    { fallback: SERVER_HOST },
  ),
  'raft.grpc.client.port': int('-1', 'Port of the client listener.', OTHER_PORT),
  'raft.grpc.client.worker-group.size': int(
    '0',
    'Event-loop threads for the connections that a client or server opens.',
    GROUP,
  ),
  'raft.grpc.server.host': optionalText('Host to listen on; all addresses when not set.'),
  'raft.grpc.server.port': int('0', 'Port to listen on.', PORT),
  'raft.grpc.server.boss-group.size': int(
    '0',
    'Event-loop threads that accept connections.',
    GROUP,
  ),
  'raft.grpc.server.worker-group.size': int(
    '0',
    'Event-loop threads that serve accepted connections.',
    GROUP,
  ),
  'raft.grpc.server.async.request.thread.pool.cached': bool(
    'true',
    'Delivers any number of client replies at once.',
  ),
  'raft.grpc.server.async.request.thread.pool.size': int(
    '32',
    'How many client replies are delivered at once.',
    THREADS,
  ),
  'raft.grpc.server.leader.outstanding.appends.max': int(
    '8',
    'Append requests without a reply that a follower may have, heartbeats apart.',
    ZERO_OR_MORE,
  ),
  'raft.grpc.server.install_snapshot.request.element-limit': int(
    '8',
    'Pieces of a snapshot without a reply that a follower may have.',
    ZERO_OR_MORE,
  ),
  'raft.grpc.server.install_snapshot.request.timeout': duration(
    '3000ms',
    'How long a piece of a snapshot waits for its reply, times the element limit.',
  ),
  'raft.grpc.server.heartbeat.channel': bool(
    'true',
    'Sends heartbeats over a connection of their own.',
  ),
  'raft.grpc.server.log-message.batch.duration': duration(
    '5s',
    'Equal log messages within this time are written once, with a count.',
  ),
  'raft.grpc.server.stub.pool.size': int('1', 'Extra connections to each peer.', {
    note: '1 is none',
  }),
  'raft.grpc.server.log.appender.connections': int(
    '1',
    'Connections for appends from one server to another; each group stays on one of them.',
    { ...CONNECTIONS, alias: 'raft.grpc.server.log-appender.connections' },
  ),
  'raft.grpc.server.log-appender.connections': int(
    '1',
    'Other name of raft.grpc.server.log.appender.connections, which wins when both are set.',
    { ...CONNECTIONS, aliasOf: 'raft.grpc.server.log.appender.connections' },
  ),
});
