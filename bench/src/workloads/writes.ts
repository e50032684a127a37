import { fileURLToPath } from 'node:url';
import type { RaftClient } from 'kontiki';
import type { ProcessCluster } from 'kontiki/testing';
import { checksumOf, decodeEchoState } from '../machines/echo.js';
import type { BenchOptions, WorkloadDefaults } from '../options.js';
import type { PreparedWorkload, Workload } from '../run.js';

export const WRITES_DEFAULTS: WorkloadDefaults = {
  inFlight: 256,
  sizeBytes: 128,
  seconds: 15,
  warmupSeconds: 5,
};

const MACHINE = fileURLToPath(new URL('../machines/echo.js', import.meta.url));

/** Small values, each different, in order on one stream. */
export function writesWorkload(options: BenchOptions): Workload {
  return {
    name: 'writes',
    stateMachine: MACHINE,
    properties: {},
    prepare: (client) => prepare(client, options.sizeBytes),
    unit: (perSecond) => `${Math.round(perSecond)} writes/s`,
  };
}

function prepare(client: RaftClient, sizeBytes: number): PreparedWorkload {
  let checksum = 0;
  return {
    send: async (number) => {
      const value = new Uint8Array(sizeBytes).fill(number & 0xff);
      new DataView(value.buffer).setFloat64(0, number);
      checksum = (checksum + checksumOf(value)) >>> 0;
      const { message } = await client.async().send(value);
      if (message?.length !== 8) throw new Error(`write ${number} got a wrong answer`);
    },
    check: async (cluster, total) => check(cluster, client, total, checksum),
  };
}

async function check(
  cluster: ProcessCluster,
  client: RaftClient,
  total: number,
  checksum: number,
): Promise<void> {
  for (const { id } of cluster.peers) {
    const state = decodeEchoState((await client.io().sendStaleRead('', 0, id)).message);
    if (state.writes !== total || state.checksum !== checksum) {
      throw new Error(`${id} holds ${state.writes} of ${total} writes, or others`);
    }
  }
}
