import { randomInt } from 'node:crypto';
import { createServer, type Server } from 'node:net';

/** Below the range that systems take for outgoing connections, so that none of these takes it. */
const LOWEST_PORT = 12_000;
const HIGHEST_PORT = 30_000;
const ATTEMPTS = 200;

function tryListen(port: number): Promise<Server | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(undefined));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => resolve(server));
  });
}

/**
 * Ports of the loopback interface that nobody listens on. They stay the same over restarts of a
 * server, and are chosen at random, so that two runs at once rarely meet. Rejects when none are
 * found.
 */
export async function findFreePorts(count: number): Promise<number[]> {
  const held = new Map<number, Server>();
  try {
    for (let attempt = 0; held.size < count; attempt++) {
      if (attempt === ATTEMPTS + count) throw new Error(`found no ${count} free ports`);
      const port = randomInt(LOWEST_PORT, HIGHEST_PORT);
      const server = held.has(port) ? undefined : await tryListen(port);
      if (server !== undefined) held.set(port, server);
    }
    return [...held.keys()];
  } finally {
    await Promise.all(
      [...held.values()].map((server) => new Promise((resolve) => server.close(resolve))),
    );
  }
}
