import { createHash, type Hash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { RaftClient } from 'kontiki';
import { FileStoreClient, layOutWrite } from 'kontiki/examples';
import type { ProcessCluster } from 'kontiki/testing';
import type { BenchOptions, WorkloadDefaults } from '../options.js';
import type { PreparedWorkload, Workload } from '../run.js';

export const FILES_DEFAULTS: WorkloadDefaults = {
  inFlight: 8,
  sizeBytes: 1 << 20,
  seconds: 15,
  warmupSeconds: 5,
};

const CHUNKS_PER_FILE = 64;

/** Large values that go beside the log, into files of the file store. */
export function filesWorkload(options: BenchOptions): Workload {
  const megabytes = options.sizeBytes / 1e6;
  return {
    name: 'files',
    stateMachine: 'filestore',
    properties: {},
    prepare: (client) => prepare(client, options.sizeBytes),
    unit: (perSecond) => `${(perSecond * megabytes).toFixed(1)} MB/s`,
  };
}

function prepare(client: RaftClient, sizeBytes: number): PreparedWorkload {
  const files = new FileStoreClient(client);
  const content = randomBytes(sizeBytes);
  return {
    send: async (number) => {
      const { path, offset } = placeOf(number, sizeBytes);
      const close = number % CHUNKS_PER_FILE === CHUNKS_PER_FILE - 1;
      const { message, data } = layOutWrite(path, { offset, length: sizeBytes, close, sync: true });
      stamp(data, content, number);
      const { length } = await files.send(message);
      if (length !== sizeBytes) throw new Error(`write ${number} stored ${length} bytes`);
    },
    check: (cluster, total) => check(cluster, total, sizeBytes, content),
  };
}

function placeOf(number: number, sizeBytes: number): { path: string; offset: number } {
  const file = Math.floor(number / CHUNKS_PER_FILE);
  return { path: `bench-${file}`, offset: (number % CHUNKS_PER_FILE) * sizeBytes };
}

/** The same random bytes, behind a number that makes each chunk unique. */
function stamp(data: Uint8Array, content: Uint8Array, number: number): void {
  data.set(content);
  new DataView(data.buffer, data.byteOffset).setFloat64(0, number);
}

/** Compares every file on every server's disk with what was written. */
async function check(
  cluster: ProcessCluster,
  total: number,
  sizeBytes: number,
  content: Uint8Array,
): Promise<void> {
  const wanted = wantedHashes(total, sizeBytes, content);
  for (const { id } of cluster.peers) {
    const storage = join(cluster.directory, id, 'storage');
    const names = await readdir(storage, { recursive: true });
    for (const [path, hash] of wanted) {
      // The store puts the version of a file behind its name.
      const found = names.filter((name) => basename(name).startsWith(`${path}@`));
      const hashes = await Promise.all(found.map((name) => hashFile(join(storage, name))));
      if (!hashes.includes(hash)) {
        throw new Error(`${id}: ${path} is not as written (${found.length} files of that name)`);
      }
    }
  }
}

function wantedHashes(total: number, sizeBytes: number, content: Uint8Array): Map<string, string> {
  const hashes = new Map<string, Hash>();
  const chunk = new Uint8Array(sizeBytes);
  for (let number = 0; number < total; number++) {
    const { path } = placeOf(number, sizeBytes);
    const hash = hashes.get(path) ?? createHash('sha256');
    hashes.set(path, hash);
    stamp(chunk, content, number);
    hash.update(chunk);
  }
  return new Map([...hashes].map(([path, hash]) => [path, hash.digest('hex')]));
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path)) hash.update(chunk as Uint8Array);
  return hash.digest('hex');
}
