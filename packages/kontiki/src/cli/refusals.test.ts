import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { freePorts, kontikiProcess, startServer, temporaryFolder } from './cli.test-support.js';

test('a server refuses what does not fit, and the client says why in one line', async (t) => {
  const folder = await temporaryFolder(t);
  const [port] = await freePorts(1);
  assert.ok(port !== undefined);
  const peers = ['--peers', `n0:127.0.0.1:${port}`];
  const storage = ['--storage', join(folder, 'n0'), '-m', 'filestore'];
  const server = await startServer(t, '--id', 'n0', ...peers, ...storage, '--log-level', 'warn');
  let log = '';
  server.stderr?.on('data', (data: Buffer) => (log += data.toString()));
  const bounded = [...peers, '--timeout', '20'];

  const wrongGroup = await kontikiProcess('counter', 'get', ...bounded);
  assert.deepEqual(wrongGroup, {
    code: 1,
    out: '',
    err: 'kontiki counter get: n0: group-ABB3109A44C1 not found.\n',
  });

  const load = ['filestore', 'loadgen', '--numFiles', '1', ...bounded];
  const entry = await kontikiProcess(...load, '--size', '5000000', '--bufferSize', '5000000');
  assert.equal(entry.code, 1);
  assert.match(entry.err, /Log entry size \d+ exceeds the max buffer limit of 4194304\n$/);

  const message = await kontikiProcess(...load, '--size', '70000000', '--bufferSize', '70000000');
  assert.equal(message.code, 1);
  assert.match(
    message.err,
    /a message of \d+ bytes does not fit into a request of at most 67108864 bytes\n$/,
  );

  const socket = connect(port, '127.0.0.1');
  socket.end('GET / HTTP/1.1\r\nHost: n0\r\n\r\n');
  socket.resume();
  await once(socket, 'close');
  while (!log.includes('\n')) await once(server.stderr ?? server, 'data');
  assert.match(log, /WARN {2}n0: connection from 127\.0\.0\.1:\d+ refused: .*not speak HTTP\/2/);

  const written = await kontikiProcess(...load, '--size', '10');
  assert.equal(written.code, 0);
});
