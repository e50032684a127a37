import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { test } from 'node:test';
import { findFreePorts } from './free-ports.js';

test('gives different ports that can be listened on', async () => {
  const ports = await findFreePorts(6);
  assert.equal(new Set(ports).size, 6);
  const servers = await Promise.all(
    ports.map((port) => {
      const server = createServer();
      return new Promise<typeof server>((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, '127.0.0.1', () => resolve(server));
      });
    }),
  );
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))));
});
