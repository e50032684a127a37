import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeConfiguration, type KeyDescription } from './describe.js';
import { RaftProperties } from './raft-properties.js';
import { KEY_NAMES, type KeyName, type RaftOptions } from './registry.js';

function describe(options: RaftOptions, key: KeyName): Pick<KeyDescription, 'value' | 'source'> {
  const all = describeConfiguration(RaftProperties.from(options));
  const { value, source } = all.find((one) => one.key === key) ?? assert.fail();
  return { value, source };
}

test('describes every key', () => {
  const all = describeConfiguration(new RaftProperties());
  assert.deepEqual(
    all.map(({ key }) => key),
    [...KEY_NAMES],
  );
});

test('shows a default as the table writes it', () => {
  assert.deepEqual(describe({}, 'raft.server.log.segment.size.max'), {
    value: '32MB',
    source: 'default',
  });
});

test('shows what was set as it was written', () => {
  assert.deepEqual(
    describe({ 'raft.server.close.threshold': ' 2 min ' }, 'raft.server.close.threshold'),
    { value: '2 min', source: 'set' },
  );
});

test('shows the value in force of a boolean that does not parse', () => {
  const key = 'raft.server.leaderelection.pre-vote';
  assert.deepEqual(describe({ [key]: 'no' }, key), { value: 'true', source: 'set' });
});

test('shows where a fallback comes from', () => {
  const all = describeConfiguration(RaftProperties.from({ 'raft.server.rpc.timeout.max': '1s' }));
  const staging = all.find(({ key }) => key === 'raft.server.staging.timeout');
  assert.equal(staging?.value, '3000ms');
  assert.equal(staging?.source, 'fallback');
  assert.equal(staging?.fallbackKey, 'raft.server.rpc.timeout.max');
});
