import { defineKeys } from '../key-definition.js';
import { duration, INT_MAX, int, long, size } from '../number-keys.js';
import { bool, enumeration, retryPolicyText } from '../text-keys.js';

const ZERO_OR_MORE = { min: 0 };
const ONE_OR_MORE = { min: 1 };
const INT_SIZE = { max: INT_MAX };

const LOG_KEYS = defineKeys('server log', {
  'raft.server.log.use.memory': bool(
    'false',
    'Keeps the log in memory only: for tests, and for data that may be lost.',
  ),
  'raft.server.log.queue.element-limit': int(
    '4096',
    'Tasks that may wait for the log writer; further appends wait.',
    ONE_OR_MORE,
  ),
  'raft.server.log.queue.byte-limit': size(
    '64MB',
    'Bytes that may wait for the log writer; further appends wait.',
    { setterMin: 1 },
  ),
  'raft.server.log.purge.gap': int(
    '1024',
    'Entries to drop that must come together before the log is purged again.',
    ONE_OR_MORE,
  ),
  'raft.server.log.purge.upto.snapshot.index': bool(
    'false',
    'Purges up to the snapshot although a peer still lacks entries.',
  ),
  'raft.server.log.purge.preservation.log.num': long(
    '0',
    'Entries below the purge index that stay anyway.',
  ),
  'raft.server.log.segment.size.max': size(
    '32MB',
    'An entry that would make its segment longer starts the next one.',
  ),
  'raft.server.log.read.lock.enabled': bool(
    'true',
    'Read lock of the log in Ratis; without effect here, where one thread owns the log.',
  ),
  'raft.server.log.append-entries.compose.enabled': bool(
    'false',
    'A follower answers an append only after all earlier ones were written.',
    { ratisDefaultText: 'true' },
  ),
  'raft.server.log.segment.cache.num.max': int(
    '6',
    'Closed segments whose entries stay in memory.',
    ZERO_OR_MORE,
  ),
  'raft.server.log.segment.cache.size.max': size(
    '200MB',
    'Bytes of closed segments whose entries stay in memory.',
  ),
  'raft.server.log.preallocated.size': size('4MB', 'Step by which a segment file grows ahead.'),
  'raft.server.log.write.buffer.size': size('8MB', 'Bytes gathered for one write of the log.', {
    ...INT_SIZE,
    note: 'at least raft.server.log.appender.buffer.byte-limit + 8',
  }),
  'raft.server.log.force.sync.num': int(
    '128',
    'Entries written without a flush that force one.',
    ZERO_OR_MORE,
  ),
  'raft.server.log.unsafe-flush.enabled': bool(
    'false',
    'Counts entries as flushed before they are on the disk: a crash can lose them.',
    { range: 'true | false; not together with raft.server.log.async-flush.enabled' },
  ),
  'raft.server.log.async-flush.enabled': bool(
    'false',
    'Flushes beside the writing of further entries.',
    { range: 'true | false; not together with raft.server.log.unsafe-flush.enabled' },
  ),
  'raft.server.log.log-metadata.enabled': bool(
    'true',
    'Writes the commit index into the log, so that a server alone recovers it.',
  ),
  'raft.server.log.corruption.policy': enumeration(
    ['EXCEPTION', 'WARN_AND_RETURN'],
    'EXCEPTION',
    'A damaged segment refuses to load, or loads with the entries before the damage.',
  ),
  'raft.server.log.statemachine.data.sync': bool(
    'true',
    "An entry counts as flushed only after the state machine's data was written.",
  ),
  'raft.server.log.statemachine.data.sync.timeout': duration(
    '10s',
    'How long one write of state machine data may take.',
  ),
  'raft.server.log.statemachine.data.sync.timeout.retry': int(
    '-1',
    'Further waits after a write of state machine data took too long.',
    { min: -1, note: '-1 is for ever' },
  ),
  'raft.server.log.statemachine.data.read.timeout': duration(
    '1000ms',
    'How long the state machine may take to return the data of an entry to send.',
  ),
  'raft.server.log.statemachine.data.caching.enabled': bool(
    'false',
    "Drops state machine data from the log's cache: the state machine must be able to return it.",
  ),
});

const APPENDER_KEYS = defineKeys('server log appender', {
  'raft.server.log.appender.buffer.element-limit': int('0', 'Entries of one append request.', {
    min: 0,
    note: '0 is no limit',
  }),
  'raft.server.log.appender.buffer.byte-limit': size(
    '4MB',
    'Bytes of the entries of one append request, and of one entry.',
    { ...INT_SIZE, note: 'at least 1MB below raft.grpc.message.size.max' },
  ),
  'raft.server.log.appender.snapshot.chunk.size.max': size(
    '16MB',
    'Bytes of one piece of a snapshot.',
    INT_SIZE,
  ),
  'raft.server.log.appender.install.snapshot.enabled': bool(
    'true',
    'Sends snapshots to followers; else only tells them that they need one.',
  ),
  'raft.server.log.appender.wait-time.min': duration(
    '0ms',
    'Shortest time between two requests of one appender.',
    { ratisDefaultText: '1ms' },
  ),
  'raft.server.log.appender.retry.policy': retryPolicyText(
    '1ms,10, 1s,20, 5s,1000',
    'Pauses of an appender after errors in a row.',
  ),
});

const SNAPSHOT_KEYS = defineKeys('server snapshot', {
  'raft.server.snapshot.auto.trigger.enabled': bool(
    'false',
    'Takes a snapshot whenever enough entries were applied.',
  ),
  'raft.server.snapshot.auto.trigger.threshold': long(
    '400000',
    'Entries applied since the last snapshot that bring the next one.',
    ZERO_OR_MORE,
  ),
  'raft.server.snapshot.trigger-when-stop.enabled': bool(
    'true',
    'Takes a snapshot when the server stops.',
  ),
  'raft.server.snapshot.trigger-when-remove.enabled': bool(
    'true',
    'Takes a snapshot when a group is removed.',
  ),
  'raft.server.snapshot.creation.gap': long(
    '1024',
    'A request gets the last snapshot when fewer entries were applied since.',
    ONE_OR_MORE,
  ),
  'raft.server.snapshot.retention.file.num': int('-1', 'Snapshot files that are kept.', {
    note: '0 and less keep all',
  }),
});

/** Keys of the log, its appenders and snapshots. */
export const SERVER_LOG_KEYS = { ...LOG_KEYS, ...APPENDER_KEYS, ...SNAPSHOT_KEYS };
