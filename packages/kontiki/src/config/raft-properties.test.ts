// biome-ignore-all lint/suspicious/noTemplateCurlyInString: references look like placeholders
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Logger } from '../common/logger.js';
import { RaftProperties } from './raft-properties.js';

const INVALID = { code: 'KONTIKI_CONFIG_INVALID' };

test('gives defaults by type: milliseconds, bytes, numbers, flags, constants, lists', () => {
  const properties = new RaftProperties();
  assert.equal(properties.get('raft.server.rpc.timeout.min'), 150);
  assert.equal(properties.get('raft.server.log.segment.size.max'), 33_554_432);
  assert.equal(properties.get('raft.server.snapshot.auto.trigger.threshold'), 400_000);
  assert.equal(properties.get('raft.server.read.leader.lease.timeout.ratio'), 0.9);
  assert.equal(properties.get('raft.server.leaderelection.pre-vote'), true);
  assert.equal(properties.get('raft.server.read.option'), 'LINEARIZABLE');
  assert.deepEqual(properties.get('raft.server.storage.dir'), ['/tmp/raft-server/']);
  assert.equal(properties.get('raft.grpc.server.host'), undefined);
});

test('reads options as values and as text', () => {
  const properties = RaftProperties.from({
    'raft.server.rpc.timeout.min': 75.5,
    'raft.server.rpc.timeout.max': '1',
    'raft.server.log.segment.size.max': '64_000 k',
    'raft.server.storage.dir': '/a , /b',
    'raft.rpc.type': 'grpc',
  });
  assert.equal(properties.get('raft.server.rpc.timeout.min'), 75.5);
  assert.equal(properties.get('raft.server.rpc.timeout.max'), 1);
  assert.equal(properties.get('raft.server.log.segment.size.max'), 65_536_000);
  assert.deepEqual(properties.get('raft.server.storage.dir'), ['/a', '/b']);
  assert.equal(properties.get('raft.rpc.type'), 'GRPC');
});

test('keeps the case of a transport that it does not know', () => {
  assert.equal(RaftProperties.from({ 'raft.rpc.type': 'myOwn' }).get('raft.rpc.type'), 'myOwn');
});

test('reads integers with underscores and in hexadecimal', () => {
  const get = (text: string): number =>
    RaftProperties.from({ 'raft.server.snapshot.retention.file.num': text }).get(
      'raft.server.snapshot.retention.file.num',
    );
  assert.deepEqual(['1_000', '0x1F', '-0X10', '+7', ' 8 '].map(get), [1000, 31, -16, 7, 8]);
});

for (const text of ['', 'ten', '1.5', '0x', '2147483648']) {
  test(`refuses "${text}" as a 32-bit integer`, () => {
    assert.throws(
      () => RaftProperties.from({ 'raft.server.snapshot.retention.file.num': text }),
      INVALID,
    );
  });
}

test('takes text that is no boolean as the default', () => {
  const get = (text: string): boolean =>
    RaftProperties.from({ 'raft.server.log.log-metadata.enabled': text }).get(
      'raft.server.log.log-metadata.enabled',
    );
  assert.deepEqual(['T', 'f', 'False', 'TRUE', '', 'fa_lse', 'no'].map(get), [
    true,
    false,
    false,
    true,
    true,
    true,
    true,
  ]);
});

test('refuses a constant in another case', () => {
  assert.throws(() => RaftProperties.from({ 'raft.server.read.option': 'linearizable' }), {
    ...INVALID,
    message: 'raft.server.read.option = linearizable is none of DEFAULT, LINEARIZABLE',
  });
});

const BAD: readonly [key: string, text: string, message: RegExp][] = [
  ['raft.server.watch.timeout', '0', /^raft.server.watch.timeout = 0 is non-positive\.$/],
  ['raft.server.rpc.sleep.time', '-1ms', /^raft.server.rpc.sleep.time = -1ms is negative\.$/],
  ['raft.server.write.element-limit', '0', /^raft.server.write.element-limit = 0 < min = 1$/],
  ['raft.grpc.server.port', '65537', /^raft.grpc.server.port = 65537 > max = 65536$/],
  [
    'raft.client.rpc.request.timeout',
    'soon',
    /^Failed to parse .*timeout = soon: .*by default in s/,
  ],
  ['raft.server.log.write.buffer.size', '2g', /> max = 2147483647$/],
];

for (const [key, text, message] of BAD) {
  test(`names key, value and range when ${key} is ${text}`, () => {
    assert.throws(() => RaftProperties.fromEntries([[key, text]]), { ...INVALID, key, message });
  });
}

test('checks values that a program sets by the limits of setters', () => {
  const properties = new RaftProperties();
  const key = 'raft.client.message-stream.submessage-size';
  assert.throws(() => properties.set(key, 1023), INVALID);
  assert.equal(properties.setRaw(key, '1023').get(key), 1023);
  assert.throws(() => properties.set('raft.server.write.byte-limit', 0), INVALID);
  assert.throws(() => properties.set('raft.server.rpc.timeout.min', Number.NaN), INVALID);
  assert.throws(() => properties.set('raft.server.storage.dir', ['/a,b']), INVALID);
});

test('falls back to the key that stands in', () => {
  const properties = RaftProperties.from({
    'raft.server.rpc.timeout.max': 400,
    'raft.grpc.server.host': 'h',
    'raft.grpc.server.port': 5,
    'raft.grpc.client.port': -1,
  });
  assert.equal(properties.get('raft.server.staging.timeout'), 1200);
  assert.equal(properties.get('raft.server.rpc.first-election.timeout.max'), 400);
  assert.equal(properties.get('raft.grpc.admin.host'), 'h');
  assert.equal(properties.get('raft.grpc.client.port'), 5);
  assert.deepEqual(properties.getWithSource('raft.grpc.admin.port'), {
    value: 5,
    source: 'fallback',
    fallbackKey: 'raft.grpc.server.port',
  });
});

test('reads an alias when the preferred name is not set', () => {
  const properties = RaftProperties.from({ 'raft.grpc.server.log-appender.connections': 3 });
  assert.equal(properties.get('raft.grpc.server.log.appender.connections'), 3);
  properties.set('raft.grpc.server.log.appender.connections', 2);
  assert.equal(properties.get('raft.grpc.server.log.appender.connections'), 2);
  assert.equal(properties.get('raft.grpc.server.log-appender.connections'), 2);
});

test('expands variables from the lookups before it parses', () => {
  const lookups = {
    environmentVariable: (name: string) => (name === 'PORT' ? '7' : undefined),
    processProperty: () => undefined,
  };
  const properties = RaftProperties.from(
    { 'raft.grpc.server.port': '${env.PORT}', 'raft.grpc.client.port': '${raft.grpc.server.port}' },
    { lookups },
  );
  assert.equal(properties.get('raft.grpc.client.port'), 7);
});

test('trims names, keeps values verbatim', () => {
  const properties = new RaftProperties().setRaw(' my.key ', ' v ');
  assert.equal(properties.getRaw('my.key'), ' v ');
  assert.equal(properties.getExpanded(' my.key'), ' v ');
  assert.equal(properties.size, 1);
  assert.equal(properties.unset('my.key ').size, 0);
});

test('sets only what is unset', () => {
  const properties = new RaftProperties().setIfUnset('k', '1').setIfUnset('k', '2');
  assert.equal(properties.getRaw('k'), '1');
});

test('copies without following later changes', () => {
  const properties = RaftProperties.from({ 'raft.grpc.server.port': 1 });
  const copy = properties.copy();
  properties.clear();
  assert.equal(copy.get('raft.grpc.server.port'), 1);
  assert.equal(properties.get('raft.grpc.server.port'), 0);
});

test('lists unknown keys with the one that was perhaps meant', () => {
  const properties = RaftProperties.fromEntries([
    ['raft.server.rpc.timeout.mn', '1ms'],
    ['raft.server.rpc.timeout.max', '1s'],
    ['other', 'x'],
  ]);
  assert.deepEqual(properties.unknownKeys(), [
    { key: 'raft.server.rpc.timeout.mn', nearest: 'raft.server.rpc.timeout.min' },
  ]);
});

test('warns once of keys that are unknown or without effect, whoever has a copy', () => {
  const properties = RaftProperties.fromEntries([
    ['raft.server.rpc.timeout.mn', '1ms'],
    ['raft.zookeeper', 'x'],
    ['raft.server.rpc.sleep.time', '1ms'],
    ['raft.grpc.tls.conf', 'tls.pem'],
    ['raft.server.rpc.timeout.max', '1s'],
    ['other', 'x'],
  ]);
  const copy = properties.copy();
  assert.deepEqual(properties.takeWarnings(), [
    'unknown key raft.server.rpc.timeout.mn; did you mean raft.server.rpc.timeout.min?',
    'unknown key raft.zookeeper',
    'raft.server.rpc.sleep.time has no effect: Appenders always use streams; their pauses are ' +
      'raft.server.log.appender.retry.policy',
    'raft.grpc.tls.conf is an object that programs give; its text has no effect',
  ]);
  assert.deepEqual(copy.takeWarnings(), []);
  copy.setRaw('raft.x', '1');
  assert.deepEqual(copy.takeWarnings(), ['unknown key raft.x']);
});

test('logs a value once and again when it changed (spec: config 6)', () => {
  const lines: string[] = [];
  const logger: Logger = {
    isEnabled: () => true,
    log: (level, message) => lines.push(`${level} ${message}`),
  };
  const properties = new RaftProperties({ logger });
  properties.get('raft.grpc.server.port');
  properties.get('raft.grpc.server.port');
  properties.set('raft.grpc.server.port', 9);
  properties.get('raft.grpc.server.port');
  properties.get('raft.grpc.client.port');
  properties.get('raft.client.rpc.request.timeout');
  assert.deepEqual(lines, [
    'info raft.grpc.server.port = 0 (default)',
    'debug set raft.grpc.server.port = 9',
    'info raft.grpc.server.port = 9 (custom)',
    'info raft.grpc.client.port = 9 (fallback to raft.grpc.server.port)',
    'debug raft.client.rpc.request.timeout = 3s (default)',
  ]);
});
