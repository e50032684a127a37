import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import {
  freePorts,
  kontikiProcess,
  startServer,
  stopped,
  temporaryFolder,
  tlsOptions,
} from './cli.test-support.js';

const QUIET = ['--log-level', 'error'];
const BASE_MACHINE = new URL('../statemachine/index.js', import.meta.url).href;

/** A machine of a user's own: it remembers the last write. */
const USER_MODULE = `
import { BaseStateMachine } from '${BASE_MACHINE}';
export default class extends BaseStateMachine {
  value = new TextEncoder().encode('none');
  applyTransaction(context) { return (this.value = context.logData); }
  query() { return this.value; }
}
`;

test('three servers serve two groups, and end with status 0 when told to', async (t) => {
  const folder = await temporaryFolder(t);
  const ports = await freePorts(3);
  const peers = ports.map((port, i) => `n${i}:127.0.0.1:${port}`).join(',');
  const groups = ['-g', '02511d47-d67c-49a3-9011-abb3109a44c1', '-m', 'counter'];
  groups.push('-g', 'demoRaftGroup123', '-m', 'filestore');
  const servers = await Promise.all(
    ports.map((_port, i) => {
      const own = ['--id', `n${i}`, '--peers', peers, '--storage', join(folder, `n${i}`)];
      return startServer(t, ...own, ...groups, ...QUIET);
    }),
  );
  const incremented = await kontikiProcess('counter', 'increment', '-n', '100', '--peers', peers);
  assert.deepEqual(incremented, { code: 0, out: '100\n', err: '' });
  const read = await kontikiProcess('counter', 'get', '--server', 'n2', '--peers', peers);
  assert.equal(read.out, '100\n');
  const load = ['--numFiles', '2', '--size', '100000', '--bufferSize', '30000', '--verify'];
  const loaded = await kontikiProcess('filestore', 'loadgen', ...load, '--peers', peers);
  assert.match(
    loaded.out,
    /Total data written: 200000 bytes\n[\s\S]*Verified: SHA-256 of 2 files\n$/,
  );
  const local = join(folder, 'local');
  await writeFile(local, 'content');
  await kontikiProcess('filestore', 'put', local, 'a/b', '--peers', peers);
  const back = ['a/b', join(folder, 'back'), '--size', '7'];
  assert.equal((await kontikiProcess('filestore', 'get', ...back, '--peers', peers)).code, 0);
  assert.equal(await readFile(join(folder, 'back'), 'utf8'), 'content');
  const missing = await kontikiProcess('filestore', 'read', 'no', '--size', '1', '--peers', peers);
  assert.equal(missing.code, 1);
  assert.match(missing.err, /^kontiki filestore read: .*File no not found\n$/);
  const signals = ['SIGTERM', 'SIGINT', 'SIGTERM'] as const;
  const codes = await Promise.all(
    servers.map((server, i) => stopped(server, signals[i] ?? 'SIGTERM')),
  );
  assert.deepEqual(codes, [0, 0, 0]);
});

test('serves a machine from a module of the user, and warns of an unknown key', async (t) => {
  const folder = await temporaryFolder(t);
  const module = join(folder, 'machine.mjs');
  await writeFile(module, USER_MODULE);
  const [port] = await freePorts(1);
  const own = ['--id', 'n0', '--peers', `n0:127.0.0.1:${port}`, '--storage', join(folder, 'n0')];
  const key = ['-D', 'raft.server.rcp.timeout.min=1s'];
  const server = await startServer(t, ...own, '-m', module, ...key, ...QUIET);
  assert.equal(await stopped(server, 'SIGTERM'), 0);
  const again = await kontikiProcess('server', ...own, '-m', module, ...key, '-g', 'x');
  assert.equal(again.code, 2);
  const warned = await kontikiProcess(
    'counter',
    'get',
    '--timeout',
    '1',
    ...key,
    ...own.slice(2, 4),
  );
  const warning =
    'warning: unknown key raft.server.rcp.timeout.min; did you mean raft.server.rpc.timeout.min?';
  assert.equal(warned.err.split('\n')[0], warning);
  assert.equal(warned.code, 1);
});

test('says that a port is taken', async (t) => {
  const folder = await temporaryFolder(t);
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  t.after(() => holder.close());
  const address = holder.address();
  assert.ok(typeof address === 'object' && address !== null);
  const peers = `n0:127.0.0.1:${address.port}`;
  const own = ['--id', 'n0', '--peers', peers, '--storage', join(folder, 'n0'), '-m', 'counter'];
  assert.deepEqual(await kontikiProcess('server', ...own, ...QUIET), {
    code: 1,
    out: '',
    err:
      `kontiki server: cannot listen on 127.0.0.1:${address.port}: ` +
      'address already in use (EADDRINUSE)\n',
  });
});

test('says that another process holds the storage', async (t) => {
  const folder = await temporaryFolder(t);
  const [first, second] = await freePorts(2);
  const storage = ['--storage', join(folder, 'n0'), '-m', 'counter', ...QUIET];
  const server = await startServer(t, '--id', 'n0', '--peers', `n0:127.0.0.1:${first}`, ...storage);
  const other = ['--id', 'n0', '--peers', `n0:127.0.0.1:${second}`, ...storage];
  const { code, out, err } = await kontikiProcess('server', ...other);
  assert.equal(code, 1);
  assert.equal(out, '');
  assert.match(
    err,
    new RegExp(`^kontiki server: .*/02511d47-[^ ]* is locked, last by ${server.pid}@.*\\n$`),
  );
});

test('says which segment is damaged, and where', async (t) => {
  const folder = await temporaryFolder(t);
  const [port] = await freePorts(1);
  const peers = ['--peers', `n0:127.0.0.1:${port}`];
  const storage = ['--storage', join(folder, 'n0'), '-m', 'counter', ...QUIET];
  const own = ['--id', 'n0', ...peers, ...storage];
  const server = await startServer(t, ...own);
  await kontikiProcess('counter', 'increment', '-n', '5', ...peers);
  await stopped(server, 'SIGTERM');
  const current = join(folder, 'n0', '02511d47-d67c-49a3-9011-abb3109a44c1', 'current');
  const segment = (await readdir(current)).find((name) => name.startsWith('log_'));
  assert.ok(segment !== undefined);
  const bytes = await readFile(join(current, segment));
  bytes[20] = (bytes[20] ?? 0) ^ 0xff;
  await writeFile(join(current, segment), bytes);
  const { code, out, err } = await kontikiProcess('server', ...own);
  assert.equal(code, 1);
  assert.equal(out, '');
  assert.match(err, new RegExp(`^kontiki server: .*${segment} at byte 8 is damaged: [^\\n]*\\n$`));
});

test('a client of another authority, and one without TLS, are told what is wrong', async (t) => {
  const folder = await temporaryFolder(t);
  const [port] = await freePorts(1);
  const peers = ['--peers', `n0:127.0.0.1:${port}`];
  await mkdir(join(folder, 'n0'));
  const good = await tlsOptions(folder, 'good');
  const bad = await tlsOptions(folder, 'bad');
  const own = ['--id', 'n0', ...peers, '--storage', join(folder, 'n0'), '-m', 'counter', ...QUIET];
  await startServer(t, ...own, ...good);
  const get = ['counter', 'get', ...peers, '--timeout', '2'];
  assert.equal((await kontikiProcess(...get, ...good)).out, '0\n');
  const stranger = await kontikiProcess(...get, ...bad);
  assert.equal(stranger.code, 1);
  const [hint, last] = stranger.err.split('\n');
  assert.match(hint ?? '', /^no answer yet, trying for 2 s: .*certificate/);
  assert.match(last ?? '', /^kontiki counter get: no answer within 2 s: .*certificate/);
  const plain = await kontikiProcess(...get);
  assert.equal(plain.code, 1);
  assert.match(plain.err, /\nkontiki counter get: no answer within 2 s: [^\n]*TLS[^\n]*\n$/);
});

test('a server that closes itself after a long pause ends with a line', async (t) => {
  const folder = await temporaryFolder(t);
  const [port] = await freePorts(1);
  const own = ['--id', 'n0', '--peers', `n0:127.0.0.1:${port}`, '--storage', join(folder, 'n0')];
  const limit = ['-D', 'raft.server.close.threshold=500ms', '--log-level', 'warn'];
  const server = await startServer(t, ...own, '-m', 'counter', ...limit);
  let err = '';
  server.stderr?.on('data', (data: Buffer) => (err += data.toString()));
  const closed = once(server, 'close');
  server.kill('SIGSTOP');
  setTimeout(() => server.kill('SIGCONT'), 1500);
  assert.deepEqual(await closed, [1, null]);
  assert.match(
    err,
    /stood still for \d+ ms.*\nkontiki server: the server closed itself; [^\n]*\n$/,
  );
});
