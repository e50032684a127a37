import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RaftProperties } from './raft-properties.js';
import type { RaftOptions } from './registry.js';
import { checkServerProperties } from './server-checks.js';

function check(options: RaftOptions): void {
  checkServerProperties(RaftProperties.from(options));
}

test('accepts the defaults', () => {
  assert.doesNotThrow(() => check({}));
});

const ENTRY = 'raft.server.log.appender.buffer.byte-limit';

const GOOD: readonly [name: string, options: RaftOptions][] = [
  ['equal timeouts', { 'raft.server.rpc.timeout.min': 300 }],
  ['a buffer of one record', { 'raft.server.log.write.buffer.size': 4 * 2 ** 20 + 8 }],
  ['a message 1MB above the entries', { 'raft.grpc.message.size.max': '5MB' }],
  ['a fractional watch step', { 'raft.server.watch.timeout.denomination': '100us' }],
  ['no message limit without gRPC', { 'raft.rpc.type': 'MEMORY', [ENTRY]: '7m' }],
  ['a follower gap of 1', { 'raft.server.write.follower.gap.ratio.max': 1 }],
];

for (const [name, options] of GOOD) {
  test(`accepts ${name}`, () => assert.doesNotThrow(() => check(options)));
}

const BAD: readonly [name: string, options: RaftOptions, message: RegExp][] = [
  [
    'a longest timeout below the shortest',
    { 'raft.server.rpc.timeout.min': 301 },
    /timeout\.max = 300 and raft\.server\.rpc\.timeout\.min = 301/,
  ],
  [
    'a write buffer without room for the largest record',
    { 'raft.server.log.write.buffer.size': 4 * 2 ** 20 + 7 },
    /write\.buffer\.size = 4194311 and .*byte-limit = 4194304/,
  ],
  [
    'a message limit below the largest append',
    { 'raft.grpc.message.size.max': 5 * 2 ** 20 - 1 },
    /exceed the second by 1MB/,
  ],
  [
    'both ways of flushing',
    {
      'raft.server.log.async-flush.enabled': true,
      'raft.server.log.unsafe-flush.enabled': true,
    },
    /both cannot be true/,
  ],
  ['a watch time between steps', { 'raft.server.watch.timeout': '1500ms' }, /multiple/],
  ['a lease of no length', { 'raft.server.read.leader.lease.timeout.ratio': 0 }, /non-positive/],
  [
    'a follower gap of 0',
    { 'raft.server.write.follower.gap.ratio.max': 0 },
    /neither -1 nor in \(0, 1\]/,
  ],
  [
    'a fixed pool without a size',
    { 'raft.server.threadpool.client.cached': false },
    /needs a size above 0/,
  ],
];

for (const [name, options, message] of BAD) {
  test(`refuses ${name}`, () => {
    assert.throws(() => check(options), { code: 'KONTIKI_CONFIG_INVALID', message });
  });
}
