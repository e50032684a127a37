import { defineKeys } from '../key-definition.js';
import { double, duration, durationOr, fallbackTo, int, size } from '../number-keys.js';
import { bool, enumeration, path, paths } from '../text-keys.js';

const POOL = { min: 0, max: 65_536, note: '0 is unlimited for a growing pool' };
const POSITIVE = { positive: true };
const MEBIBYTE = 1024 * 1024;

/** Storage, life cycle and work queues of a server. */
const HOUSE_KEYS = defineKeys('server', {
  'raft.server.storage.dir': paths(
    '/tmp/raft-server/',
    'Storage roots; each group has a directory, named by its UUID, in one of them.',
  ),
  'raft.server.storage.free-space.min': size(
    '0MB',
    'A storage root with less usable space than this takes no new group.',
  ),
  'raft.server.removed.groups.dir': path(
    '/tmp/raft-server/removed-groups/',
    'Where the directory of a removed group goes when it is to be kept.',
  ),
  'raft.server.sleep.deviation.threshold': duration(
    '300ms',
    'How late a timer may fire before that counts as a pause of the process.',
  ),
  'raft.server.close.threshold': duration(
    '60s',
    'A pause of the process that lasts longer than this closes the server.',
  ),
  'raft.server.staging.catchup.gap': int(
    '1000',
    'A new peer has caught up when it lacks at most this many committed entries.',
    { min: 0 },
  ),
  'raft.server.staging.timeout': durationOr(
    fallbackTo('raft.server.rpc.timeout.max', 3),
    'A new peer that gives no sign of life for this long fails the change of members.',
  ),
  'raft.server.threadpool.proxy.cached': bool(
    'true',
    'Start and close any number of groups at once.',
  ),
  'raft.server.threadpool.proxy.size': int('0', 'How many groups start or close at once.', POOL),
  'raft.server.threadpool.server.cached': bool(
    'true',
    "Handle any number of other servers' requests at once.",
  ),
  'raft.server.threadpool.server.size': int(
    '0',
    "How many of other servers' requests are handled at once.",
    POOL,
  ),
  'raft.server.threadpool.client.cached': bool(
    'true',
    'Handle any number of client requests at once.',
  ),
  'raft.server.threadpool.client.size': int(
    '0',
    'How many client requests are handled at once.',
    POOL,
  ),
});

/** Reads, writes and watches. */
const REQUEST_KEYS = defineKeys('server', {
  'raft.server.read.option': enumeration(
    ['DEFAULT', 'LINEARIZABLE'],
    'LINEARIZABLE',
    'LINEARIZABLE confirms leadership before a read, at any member; DEFAULT asks the leader only.',
    { ratisDefaultText: 'DEFAULT' },
  ),
  'raft.server.read.timeout': duration(
    '10s',
    'How long a linearizable read waits until its index is applied.',
    POSITIVE,
  ),
  'raft.server.read.leader.lease.enabled': bool(
    'false',
    'A leader with a valid lease answers linearizable reads without a round of heartbeats.',
  ),
  'raft.server.read.leader.lease.timeout.ratio': double(
    '0.9',
    'Length of a lease as a fraction of raft.server.rpc.timeout.min.',
    { min: 0, max: 1, note: 'above 0 where it is used' },
  ),
  'raft.server.read.leader.heartbeat-check.enabled': bool(
    'true',
    'Confirms leadership with a majority before a read; without, a deposed leader serves old data.',
  ),
  'raft.server.read.read-after-write-consistent.write-index-cache.expiry-time': duration(
    '60s',
    "How long a client's last write is remembered for its read-after-write requests.",
  ),
  'raft.server.read.read-index.type': enumeration(
    ['COMMIT_INDEX', 'APPLIED_INDEX', 'REPLIED_INDEX'],
    'COMMIT_INDEX',
    "Which of the leader's indices a read waits for.",
  ),
  'raft.server.read.read-index.replied-index.batch-interval': duration(
    '10ms',
    'With REPLIED_INDEX: how often held replies go out and that index moves.',
  ),
  'raft.server.write.element-limit': int('4096', 'Pending writes of a leader; more are refused.', {
    min: 1,
  }),
  'raft.server.write.byte-limit': size(
    '64MB',
    "Bytes of a leader's pending writes, in whole mebibytes; more are refused.",
    { min: MEBIBYTE, setterMin: 1 },
  ),
  'raft.server.write.follower.gap.ratio.max': double(
    '-1',
    'Holds commits back for a follower behind by this multiple of the write element limit.',
    { max: 1, note: '-1 is off, else above 0' },
  ),
  'raft.server.watch.element-limit': int(
    '65536',
    'Pending watches of each replication level; more are refused.',
    { min: 1 },
  ),
  'raft.server.watch.timeout': duration('10s', 'How long a watch may be pending.', {
    positive: true,
    note: 'a multiple of raft.server.watch.timeout.denomination',
  }),
  'raft.server.watch.timeout.denomination': duration(
    '1s',
    'Arrival times of watches are rounded up to this, so that equal ones share a timer.',
    POSITIVE,
  ),
});

/** Elections, calls between servers, retry cache, notices. */
const ELECTION_KEYS = defineKeys('server', {
  'raft.server.rpc.timeout.min': duration(
    '150ms',
    'Shortest election timeout; heartbeats go out at half of it.',
  ),
  'raft.server.rpc.timeout.max': duration('300ms', 'Longest election timeout.', {
    note: 'at least raft.server.rpc.timeout.min',
  }),
  'raft.server.rpc.first-election.timeout.min': durationOr(
    fallbackTo('raft.server.rpc.timeout.min'),
    'Shortest timeout before the first election after a start.',
  ),
  'raft.server.rpc.first-election.timeout.max': durationOr(
    fallbackTo('raft.server.rpc.timeout.max'),
    'Longest timeout before the first election after a start.',
  ),
  'raft.server.rpc.request.timeout': duration(
    '3000ms',
    'How long a call to another server waits; also a transfer of leadership without a time.',
  ),
  'raft.server.rpc.sleep.time': duration(
    '25ms',
    'Pause of an appender without streams after a failed call.',
  ),
  'raft.server.rpc.slowness.timeout': duration(
    '60s',
    "A follower that is silent for longer is reported to the leader's state machine.",
  ),
  'raft.server.retrycache.expirytime': duration(
    '60s',
    'How long the reply to a write is kept for repeated requests.',
    { note: "longer than the clients' retries together" },
  ),
  'raft.server.retrycache.statistics.expirytime': duration(
    '100ms',
    'How long computed statistics of the retry cache are used again.',
  ),
  'raft.server.notification.no-leader.timeout': duration(
    '60s',
    'A state machine is told each time that no leader was known for this long.',
  ),
  'raft.server.leaderelection.leader.step-down.wait-time': duration(
    '10s',
    'How long a leader that lost its majority stands back from elections.',
  ),
  'raft.server.leaderelection.pre-vote': bool(
    'true',
    'Asks for a majority before a real election raises the term.',
  ),
  'raft.server.leaderelection.member.majority-add': bool(
    'false',
    'Lets one change of members add or replace a majority.',
  ),
});

/** Keys that servers read, apart from log, snapshots, data streams and transports. */
export const SERVER_KEYS = { ...HOUSE_KEYS, ...REQUEST_KEYS, ...ELECTION_KEYS };
