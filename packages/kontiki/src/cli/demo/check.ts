import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { RaftClient } from '../../client/index.js';
import { getCounter } from '../../examples/counter/index.js';
import type { WrittenFile } from '../../examples/filestore/index.js';
import type { RaftGroupId } from '../../protocol/ids.js';
import { CliError } from '../cli-error.js';
import type { Cluster } from './cluster.js';

const POLL_MS = 50;

/** Applied index of one group on each server; -1 where it does not answer. */
async function appliedIndices(client: RaftClient, cluster: Cluster): Promise<number[]> {
  return Promise.all(
    cluster.servers.map(async ({ id }) => {
      const info = await client.groupManagement(id).info(client.groupId);
      return info.logInfo.applied?.index ?? -1;
    }),
  );
}

/** Waits until every server has applied the same, and at least `minIndex`; that index. */
export async function untilAgreed(client: RaftClient, cluster: Cluster): Promise<number> {
  let last = '';
  for (;;) {
    const indices = await appliedIndices(client, cluster);
    const text = indices.join(',');
    const [first = -1] = indices;
    // Twice the same: nothing is on its way any more.
    if (first >= 0 && indices.every((index) => index === first) && text === last) return first;
    last = text;
    await sleep(POLL_MS);
  }
}

/** Reads the counter from every server, and demands `expected`. */
export async function checkCounters(
  client: RaftClient,
  cluster: Cluster,
  expected: number,
): Promise<void> {
  for (const { id } of cluster.servers) {
    const value = await getCounter(client, id);
    if (value !== expected) {
      throw new CliError(
        `the counter of ${id} is ${value}, but ${expected} writes were acknowledged`,
      );
    }
  }
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path, { highWaterMark: 1 << 20 }), hash);
  return hash.digest('hex');
}

/**
 * Hashes the data files on the disk of every server, and demands the SHA-256 of what was written.
 */
export async function checkFiles(
  groupId: RaftGroupId,
  cluster: Cluster,
  files: readonly WrittenFile[],
): Promise<void> {
  for (const { id } of cluster.servers) {
    const directory = join(cluster.storageOf(id), groupId.uuid, 'files');
    const names = await readdir(directory);
    for (const { path, sha256 } of files) {
      const prefix = `${encodeURIComponent(path)}@`;
      const found = names.filter((name) => name.startsWith(prefix));
      if (found.length !== 1 || found[0] === undefined) {
        throw new CliError(`${id} has ${found.length} data files of ${path}`);
      }
      if ((await hashOf(join(directory, found[0]))) !== sha256) {
        throw new CliError(`SHA-256 of ${path} differs on the disk of ${id}`);
      }
    }
  }
}
