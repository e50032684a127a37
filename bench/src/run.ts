import { tmpdir } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { type RaftClient, RaftPeerRole, RaftProperties } from 'kontiki';
import { ProcessCluster } from 'kontiki/testing';
import { Display } from './display.js';
import { measureFloors } from './floors.js';
import { closedLoop } from './load.js';
import type { BenchOptions } from './options.js';
import { makeReport, type Report } from './report.js';
import { UsageMeter } from './usage.js';

/** A load on a group of three server processes. */
export interface Workload {
  readonly name: string;
  /** The servers' state machine: a name or the path of a module. */
  readonly stateMachine: string;
  readonly properties: Readonly<Record<string, string>>;
  /** Makes what is done with a client. */
  readonly prepare: (client: RaftClient) => PreparedWorkload;
  /** Words a rate of requests. */
  readonly unit: (perSecond: number) => string;
}

export interface PreparedWorkload {
  /** One request. */
  readonly send: (number: number) => Promise<void>;
  /** Rejects unless every server holds what was acknowledged. */
  readonly check: (cluster: ProcessCluster, total: number) => Promise<void>;
}

const ASK_AGAIN_MS = 50;
const AGREE_TIMEOUT_MS = 60_000;

/** Waits until all servers have applied the same, and returns who leads. */
export async function agreement(cluster: ProcessCluster, client: RaftClient): Promise<string> {
  const start = performance.now();
  for (;;) {
    const infos = await Promise.all(
      cluster.peers.map(({ id }) =>
        client
          .groupManagement(id)
          .info(undefined, { signal: AbortSignal.timeout(AGREE_TIMEOUT_MS) })
          .catch(() => undefined),
      ),
    );
    const leader = infos.find((info) => info?.role.role === RaftPeerRole.LEADER);
    const wanted = leader?.logInfo.lastEntry?.index;
    if (
      leader !== undefined &&
      wanted !== undefined &&
      infos.every((info) => info?.logInfo.applied?.index === wanted)
    ) {
      return leader.role.self.id;
    }
    if (performance.now() - start > AGREE_TIMEOUT_MS) {
      const positions = infos.map((info) => info?.logInfo.applied?.index ?? 'unknown').join(', ');
      throw new Error(`the servers did not agree: they applied up to ${positions}`);
    }
    await sleep(ASK_AGAIN_MS);
  }
}

/** Starts the servers, loads them, checks what they hold, and measures the floors. */
export async function runWorkload(workload: Workload, options: BenchOptions): Promise<Report> {
  const display = new Display(workload.name, workload.unit);
  display.step('starting three servers');
  const cluster = await ProcessCluster.start({
    stateMachine: workload.stateMachine,
    tls: options.tls,
    properties: { ...workload.properties, ...options.properties },
    ...(options.directory === undefined ? {} : { parentDirectory: options.directory }),
  });
  try {
    const properties = RaftProperties.from({
      // A window as large as the load, or the client itself would queue.
      'raft.client.async.outstanding-requests.max': Math.max(2, options.inFlight),
    });
    await using client = cluster.client({ properties });
    const prepared = workload.prepare(client);
    const meter = new UsageMeter(cluster, await agreement(cluster, client));
    const load = await closedLoop({
      inFlight: options.inFlight,
      warmupSeconds: options.warmupSeconds,
      seconds: options.seconds,
      send: prepared.send,
      onPhase: (phase) => meter.note(phase === 'measure' ? 'begin' : 'end'),
      onProgress: (progress) => display.progress(progress),
    });
    display.done();
    await agreement(cluster, client);
    await prepared.check(cluster, load.total);
    display.step(`all three servers hold the ${load.total} requests that were acknowledged`);
    await client.close();
    await cluster.stop();
    if (options.floors) display.step('measuring the floors');
    const floors = options.floors
      ? await measureFloors({
          directory: options.directory ?? tmpdir(),
          messageBytes: options.sizeBytes,
          tls: options.tls,
        })
      : undefined;
    return makeReport(workload.name, options, load, meter.results(), floors);
  } finally {
    await cluster.kill();
  }
}
