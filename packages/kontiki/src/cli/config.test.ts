import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { configurationPage } from '../config/markdown.js';
import { KEY_NAMES } from '../config/registry.js';
import { kontiki, temporaryFolder } from './cli.test-support.js';

interface Shown {
  readonly key: string;
  readonly value?: string;
  readonly source: string;
  readonly origin: string;
  readonly meaning: string;
  readonly unusedReason?: string;
}

async function shown(...args: string[]): Promise<Shown[]> {
  const { code, out, err } = await kontiki('config', '--json', ...args);
  assert.deepEqual({ code, err }, { code: 0, err: '' });
  return JSON.parse(out) as Shown[];
}

test('config prints every key, its value, where it came from and what it means', async () => {
  const { code, out, err } = await kontiki('config');
  assert.deepEqual({ code, err }, { code: 0, err: '' });
  for (const key of KEY_NAMES) assert.ok(out.includes(`\n${key} `) || out.startsWith(key), key);
  assert.ok(
    out.includes(
      'raft.server.rpc.timeout.min = 150ms  (default)\n' +
        '    Shortest election timeout; heartbeats go out at half of it.\n' +
        '    duration: >= 0\n',
    ),
  );
});

test('config tells file, -D, default and the key that stood in apart', async (t) => {
  const file = join(await temporaryFolder(t), 'kontiki.conf');
  await writeFile(file, 'raft.server.rpc.timeout.max=2s\nraft.server.rpc.timeout.min=1s\n');
  const keys = await shown('--conf', file, '-D', 'raft.server.rpc.timeout.min=500ms');
  const origins = new Map(keys.map(({ key, value, origin }) => [key, `${value} ${origin}`]));
  assert.equal(keys.length, KEY_NAMES.length);
  assert.equal(origins.get('raft.server.rpc.timeout.max'), `2s ${file}`);
  assert.equal(origins.get('raft.server.rpc.timeout.min'), '500ms -D');
  assert.equal(origins.get('raft.server.rpc.request.timeout'), '3000ms default');
  assert.equal(
    origins.get('raft.server.staging.timeout'),
    '6000ms from raft.server.rpc.timeout.max',
  );
});

test('config prints the keys that are asked for, or those that are set', async () => {
  const watch = await shown('server.watch', 'client.rpc');
  assert.deepEqual(
    watch.map(({ key }) => key),
    [
      'raft.client.rpc.request.timeout',
      'raft.client.rpc.watch.request.timeout',
      'raft.server.watch.element-limit',
      'raft.server.watch.timeout',
      'raft.server.watch.timeout.denomination',
    ],
  );
  const set = await shown('--set', '-D', 'raft.server.watch.timeout=3s');
  assert.deepEqual(
    set.map(({ key, value }) => [key, value]),
    [['raft.server.watch.timeout', '3s']],
  );
  assert.equal((await kontiki('config', '--set')).out, '');
});

test('config warns of a key that is unknown or without effect', async () => {
  const unknown = await kontiki('config', 'watch', '-D', 'raft.server.wach.timeout=3s');
  assert.equal(unknown.code, 0);
  assert.equal(
    unknown.err,
    'warning: unknown key raft.server.wach.timeout; did you mean raft.server.watch.timeout?\n',
  );
  const unused = await kontiki('config', '--set', '-D', 'raft.grpc.use-epoll=false');
  assert.match(unused.err, /^warning: raft\.grpc\.use-epoll has no effect: /);
  assert.match(unused.out, /^raft\.grpc\.use-epoll = false {2}\(-D\)\n[\s\S]*\n {4}No effect: /);
});

test('config shows an alias where it is set', async () => {
  const key = 'raft.grpc.server.log-appender.connections';
  const { out } = await kontiki('config', '--json', 'connections', '-D', `${key}=3`);
  assert.deepEqual(
    (JSON.parse(out) as Shown[]).map(({ value, origin }) => [value, origin]),
    [
      ['3', '-D'],
      ['3', '-D'],
    ],
  );
});

const REFUSED: readonly (readonly [args: readonly string[], line: RegExp])[] = [
  [['zookeeper'], /^kontiki config: no key has zookeeper in its name$/],
  [
    ['raft.server.wach.timeout'],
    /^kontiki config: no key has .* in its name; did you mean raft\.server\.watch\.timeout\?$/,
  ],
  [['--json', '--markdown'], /^kontiki config: --json and --markdown exclude each other$/],
  [['-D', 'raft.server.watch.timeout=0'], /^kontiki config: raft\.server\.watch\.timeout = 0 is/],
  [
    ['-D', 'raft.server.rpc.timeout.min=1s'],
    /^kontiki config: raft\.server\.rpc\.timeout\.max = 300 and raft\.server\.rpc\.timeout\.min/,
  ],
];

for (const [args, line] of REFUSED) {
  test(`config ${args.join(' ')} is refused in one line`, async () => {
    const { code, out, err } = await kontiki('config', ...args);
    assert.deepEqual({ code, out }, { code: 2, out: '' });
    assert.match(err.trimEnd(), line);
  });
}

test('config --markdown prints the reference page', async () => {
  assert.equal((await kontiki('config', '--markdown')).out, configurationPage());
});
