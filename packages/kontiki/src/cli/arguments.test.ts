import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { kontiki, temporaryFolder } from './cli.test-support.js';

const PEERS = ['--peers', 'n0:127.0.0.1:6000,n1:127.0.0.1:6001'];
const STORED = ['--storage', 'unused'];
const SERVER = ['server', '--id', 'n0', ...PEERS, ...STORED];

/** Arguments, and the one line that tells what is wrong with them. */
const BAD: readonly (readonly [args: readonly string[], line: string])[] = [
  [['serve'], "kontiki: unknown command 'serve'; (Did you mean server?)"],
  [[...SERVER, '-m', 'counter', '--bogus'], "kontiki server: unknown option '--bogus'"],
  [
    ['server', ...PEERS, ...STORED],
    "kontiki server: required option '-i, --id <name>' not specified",
  ],
  [SERVER, "kontiki server: required option '-m, --stateMachine <name>' not specified"],
  [
    ['server', '--id', 'n7', ...PEERS, ...STORED, '-m', 'counter'],
    'kontiki server: --id n7 is none of the peers n0, n1',
  ],
  [
    ['server', '--id', 'n0', '--peers', 'n0', ...STORED, '-m', 'counter'],
    "kontiki server: option '-r, --peers <list>' argument 'n0' is invalid. Raft peer n0 is not a " +
      'legitimate format. (format: name:host:port:dataStreamPort:clientPort:adminPort)',
  ],
  [
    [...SERVER, '-m', 'counter', '-g', 'short'],
    "kontiki server: option '-g, --raftGroup <id>' argument 'short' is invalid. " +
      'group id: "short" is not a UUID, nor text of 16 bytes',
  ],
  [
    [...SERVER, '-m', 'counter', '-m', 'filestore', '-g', 'demoRaftGroup123'],
    'kontiki server: --raftGroup and --stateMachine must be given in pairs, but there are 1 and 2',
  ],
  [
    [
      ...SERVER,
      ...['-m', 'counter', '-g', 'demoRaftGroup123'],
      ...['-m', 'counter', '-g', 'demoRaftGroup123'],
    ],
    'kontiki server: --raftGroup 64656d6f-5261-6674-4772-6f7570313233 is given twice',
  ],
  [
    [...SERVER, '-m', './nowhere.js'],
    'kontiki server: cannot load --stateMachine ./nowhere.js: no such file',
  ],
  [
    [...SERVER, '-m', 'counter', '--tls-ca', 'nowhere.pem'],
    'kontiki server: cannot read --tls-ca nowhere.pem: no such file',
  ],
  [
    [...SERVER, '-m', 'counter', '--tls-cert', 'nowhere.pem'],
    'kontiki server: --tls-cert and --tls-key must be given together',
  ],
  [
    [...SERVER, '-m', 'counter', '--conf', 'nowhere.conf'],
    'kontiki server: cannot read --conf nowhere.conf: no such file',
  ],
  [
    [...SERVER, '-m', 'counter', '-D', 'novalue'],
    "kontiki server: option '-D, --define <key=value>' argument 'novalue' is invalid. " +
      'It must have the form key=value.',
  ],
  [
    [...SERVER, '-m', 'counter', '-D', 'raft.server.rpc.timeout.min=soon'],
    'kontiki server: Failed to parse raft.server.rpc.timeout.min = soon: ' +
      '"soon" is not a duration (a duration, by default in ms, >= 0)',
  ],
  [
    ['counter', 'increment', ...PEERS, '--count', '0'],
    "kontiki counter increment: option '-n, --count <number>' argument '0' is invalid. " +
      'It must be a whole number of at least 1.',
  ],
  [
    ['filestore', 'read', 'x', ...PEERS],
    "kontiki filestore read: required option '--size <bytes>' not specified",
  ],
];

for (const [args, line] of BAD) {
  test(`one line, status 2: ${line}`, async () => {
    assert.deepEqual(await kontiki(...args), { code: 2, out: '', err: `${line}\n` });
  });
}

test('refuses a module whose default export makes no state machine', async (t) => {
  const path = join(await temporaryFolder(t), 'machine.mjs');
  await writeFile(path, 'export default () => ({ query: 1 });');
  const { code, err } = await kontiki(...SERVER, '-m', path, '--log-level', 'error');
  assert.equal(code, 2);
  assert.match(
    err,
    /^kontiki server: the default export of --stateMachine .* is no state machine, nor/,
  );
});

test('names the versions, and prints help on request', async () => {
  assert.match((await kontiki('version')).out, /^kontiki \d+\.\d+\.\d+, Node\.js v\d+/);
  const help = await kontiki('--help');
  assert.equal(help.code, 0);
  assert.match(help.out, /server .*\n[\s\S]*demo .*\n[\s\S]*counter[\s\S]*filestore/);
  assert.equal((await kontiki('help', 'server')).code, 0);
});
