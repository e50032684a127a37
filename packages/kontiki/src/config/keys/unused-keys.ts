/** Keys that are accepted and checked but that nothing reads, with one reason for them together. */
interface UnusedKeys {
  readonly reason: string;
  readonly keys: readonly string[];
}

const GROUPS: readonly UnusedKeys[] = [
  {
    reason: 'A server has one thread; what Ratis hands to a pool happens in its event loop.',
    keys: [
      'raft.server.threadpool.proxy.cached',
      'raft.server.threadpool.proxy.size',
      'raft.server.threadpool.server.cached',
      'raft.server.threadpool.server.size',
      'raft.server.threadpool.client.cached',
      'raft.server.threadpool.client.size',
      'raft.grpc.server.async.request.thread.pool.cached',
      'raft.grpc.server.async.request.thread.pool.size',
      'raft.server.log.read.lock.enabled',
    ],
  },
  {
    reason: 'Node.js chooses the way to wait for input (libuv uses epoll on Linux).',
    keys: [
      'raft.grpc.use-epoll',
      'raft.netty.server.use-epoll',
      'raft.netty.client.use-epoll',
      'raft.netty.dataStream.client.use-epoll',
      'raft.netty.dataStream.server.use-epoll',
    ],
  },
  {
    reason: 'There are no event-loop threads yet: sockets are served in the calling thread.',
    keys: [
      'raft.grpc.client.worker-group.size',
      'raft.grpc.server.boss-group.size',
      'raft.grpc.server.worker-group.size',
    ],
  },
  {
    reason:
      'There is one connection to each peer, one more for heartbeats, and one for votes: further ' +
      'ones are not opened yet.',
    keys: [
      'raft.grpc.server.stub.pool.size',
      'raft.grpc.server.log.appender.connections',
      'raft.grpc.server.log-appender.connections',
    ],
  },
  {
    reason: 'Everything that waits for the log writer goes into one write and one sync.',
    keys: ['raft.server.log.force.sync.num'],
  },
  {
    reason: 'Appenders always use streams; their pauses are raft.server.log.appender.retry.policy.',
    keys: ['raft.server.rpc.sleep.time'],
  },
  {
    reason: 'Statistics of the retry cache are counted as it works, and never out of date.',
    keys: ['raft.server.retrycache.statistics.expirytime'],
  },
  {
    reason: 'Repeated log messages are written each time.',
    keys: ['raft.grpc.server.log-message.batch.duration'],
  },
  {
    reason:
      'A linearizable read always asks a majority, and waits for the commit index; leases and ' +
      'other read indices are not built yet.',
    keys: [
      'raft.server.read.leader.lease.enabled',
      'raft.server.read.leader.lease.timeout.ratio',
      'raft.server.read.leader.heartbeat-check.enabled',
      'raft.server.read.read-index.type',
      'raft.server.read.read-index.replied-index.batch-interval',
    ],
  },
  {
    reason: 'Data streams are not built yet.',
    keys: [
      'raft.datastream.type',
      'raft.datastream.skip.send-forward',
      'raft.client.data-stream.outstanding-requests.max',
      'raft.client.data-stream.flush.request.count.min',
      'raft.client.data-stream.flush.request.bytes.min',
      'raft.client.data-stream.request.timeout',
      'raft.server.data-stream.async.request.thread.pool.cached',
      'raft.server.data-stream.async.request.thread.pool.size',
      'raft.server.data-stream.async.write.thread.pool.size',
      'raft.server.data-stream.client.pool.size',
      'raft.netty.dataStream.host',
      'raft.netty.dataStream.port',
      'raft.netty.dataStream.client.worker-group.size',
      'raft.netty.dataStream.client.worker-group.share',
      'raft.netty.dataStream.client.reconnect.policy',
      'raft.netty.dataStream.server.boss-group.size',
      'raft.netty.dataStream.server.worker-group.size',
      'raft.netty.dataStream.server.channel.inactive.grace-period',
    ],
  },
  {
    reason: 'Ratis does not read it either.',
    keys: ['raft.netty.dataStream.client.reply.queue.grace-period'],
  },
  {
    reason: 'The NETTY transport is not built: raft.rpc.type takes GRPC only.',
    keys: ['raft.netty.server.host', 'raft.netty.server.port'],
  },
  { reason: 'Spans are not recorded yet.', keys: ['raft.otel.tracing.enabled'] },
  {
    reason: "A key of Ratis' example programs; `kontiki server` has options for it.",
    keys: [
      'raft.server.address.list',
      'raft.server.priority.list',
      'raft.server.simulated-slowness.list',
      'raft.server.root.storage.path',
      'example.filestore.statemachine.dir',
    ],
  },
  {
    reason: 'The example file store needs no threads of its own.',
    keys: [
      'example.filestore.statemachine.write.thread.num',
      'example.filestore.statemachine.read.thread.num',
      'example.filestore.statemachine.commit.thread.num',
      'example.filestore.statemachine.delete.thread.num',
    ],
  },
  {
    reason: "A key of Ratis' test harness; the test kit here takes options instead.",
    keys: [
      'MiniRaftCluster.statemachine.class',
      'raft.test.simple.state.machine.take.snapshot',
      'org.apache.ratis.server.simulation.SimulatedRequestReply.simulateLatencyMs',
    ],
  },
];

/**
 * Why a key has no effect, by key. A key is either here or read somewhere: a test compares the list
 * with the sources.
 */
export const UNUSED_KEYS: ReadonlyMap<string, string> = new Map(
  GROUPS.flatMap(({ keys, reason }) => keys.map((key) => [key, reason] as const)),
);
