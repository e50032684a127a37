import { defineKeys } from '../key-definition.js';
import { duration, int } from '../number-keys.js';
import { bool, optionalInt, optionalText, retryPolicyText } from '../text-keys.js';

const POOL = { min: 0, max: 65_536 };
const PORT = { ...POOL, note: '0 is any free port' };
const GROUP = { ...POOL, note: '0 is the default' };
const EPOLL = 'Choice of event loop in Ratis; without effect here, where libuv chooses.';

const SERVER_POOL_KEYS = defineKeys('server data stream', {
  'raft.server.data-stream.async.request.thread.pool.cached': bool(
    'false',
    'Handles and writes any number of data stream packets at once.',
  ),
  'raft.server.data-stream.async.request.thread.pool.size': int(
    '32',
    'How many data stream packets are handled at once.',
    POOL,
  ),
  'raft.server.data-stream.async.write.thread.pool.size': int(
    '16',
    'How many data stream packets are written to the state machine at once.',
    POOL,
  ),
  'raft.server.data-stream.client.pool.size': int(
    '10',
    'Data stream clients to each peer, for forwarding packets.',
    POOL,
  ),
});

const RPC_KEYS = defineKeys('netty rpc', {
  'raft.netty.server.host': optionalText('Host of the NETTY RPC; all addresses when not set.'),
  'raft.netty.server.port': int('0', 'Port of the NETTY RPC.', PORT),
  'raft.netty.server.use-epoll': bool('true', EPOLL),
  'raft.netty.client.use-epoll': bool('true', EPOLL),
});

const STREAM_KEYS = defineKeys('netty data stream', {
  'raft.netty.dataStream.host': optionalText(
    'Host of the data stream server; all addresses when not set.',
  ),
  'raft.netty.dataStream.port': int('0', 'Port of the data stream server.', PORT),
  'raft.netty.dataStream.client.use-epoll': bool('true', EPOLL),
  'raft.netty.dataStream.client.worker-group.size': optionalInt(
    'Event-loop threads of data stream clients; twice the count of CPUs when not set.',
    { min: 1, max: 65_536 },
  ),
  'raft.netty.dataStream.client.worker-group.share': bool(
    'true',
    'All data stream clients of the process share one group of event-loop threads.',
  ),
  'raft.netty.dataStream.client.reply.queue.grace-period': duration(
    '1s',
    'Known to Ratis, which does not read it either.',
  ),
  'raft.netty.dataStream.client.reconnect.policy': retryPolicyText(
    'ExponentialBackoffRetry,100ms,5s,100',
    'Pauses between attempts to connect again; attempts count from 0.',
  ),
  'raft.netty.dataStream.server.use-epoll': bool('true', EPOLL),
  'raft.netty.dataStream.server.boss-group.size': int(
    '0',
    'Event-loop threads that accept data stream connections.',
    GROUP,
  ),
  'raft.netty.dataStream.server.worker-group.size': int(
    '0',
    'Event-loop threads that serve data stream connections.',
    GROUP,
  ),
  'raft.netty.dataStream.server.channel.inactive.grace-period': duration(
    '10min',
    'How long unfinished streams of a lost connection are kept.',
  ),
});

/** Keys of data streams and of the NETTY RPC. */
export const DATA_STREAM_KEYS = { ...SERVER_POOL_KEYS, ...RPC_KEYS, ...STREAM_KEYS };
