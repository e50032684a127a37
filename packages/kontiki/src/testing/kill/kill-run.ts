import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { RaftClient } from '../../client/index.js';
import { messageOf } from '../../common/errors.js';
import { ProcessCluster } from '../process/index.js';
import { judge, sameStates, type Verdict } from './judge.js';
import { type Kill, killServers } from './killer.js';
import { decodeState, type MachineState } from './machine-state.js';
import { SeededRandom } from './seeded-random.js';
import { Writer, type WriterKind } from './writer.js';

export interface KillRunOptions {
  /** Chooses servers and moments. */
  readonly seed: number;
  /** The least time, over which the kills are spread. */
  readonly seconds: number;
  readonly kills: number;
  /** The least number of acknowledged writes. */
  readonly writes: number;
  readonly tls?: boolean;
  readonly commandPath?: string;
  /** Keeps the folder of a run that failed. */
  readonly keepFiles?: boolean;
  readonly onProgress?: (progress: KillProgress) => void;
}

export interface KillProgress {
  readonly acknowledged: number;
  readonly elapsedMs: number;
  readonly kills: readonly Kill[];
}

export interface KillReport extends Verdict {
  readonly seed: number;
  readonly passed: boolean;
  readonly acknowledged: { readonly ordered: number; readonly unordered: number };
  /** Writes that had no answer long after the servers were all there. */
  readonly unanswered: number;
  readonly kills: readonly Kill[];
  /** The longest time without an acknowledgement while writes were under way. */
  readonly longestPauseMs: number;
  readonly writingMs: number;
  /** Where the files of a failed run are, when they are kept. */
  readonly directory: string | undefined;
}

const NOT_JUDGED: Verdict = { lost: 0, appliedTwice: 0, outOfOrder: 0, equal: false, findings: [] };
const PROPERTIES = {
  'raft.server.log.segment.size.max': '1MB',
  'raft.server.log.preallocated.size': '256KB',
};
const LANES: readonly { readonly kind: WriterKind; readonly inFlight: number }[] = [
  { kind: 'ordered', inFlight: 48 },
  { kind: 'ordered', inFlight: 8 },
  { kind: 'unordered', inFlight: 16 },
  { kind: 'unordered', inFlight: 4 },
];
const PROGRESS_MS = 200;
/** Time beyond `seconds` for the wanted number of writes. */
const EXTRA_MS = 120_000;
const STUCK_MS = 30_000;
const ANSWER_TIMEOUT_MS = 60_000;
const AGREE_TIMEOUT_MS = 60_000;
const MACHINE_PATH = fileURLToPath(new URL('./recording-machine.js', import.meta.url));

/** One run of the kill loop. */
class KillRun {
  readonly #options: KillRunOptions;
  readonly #cluster: ProcessCluster;
  readonly #clients: RaftClient[] = [];
  readonly #writers: Writer[];
  readonly #kills: Kill[] = [];
  readonly #findings: string[] = [];
  readonly #startMs = performance.now();
  #lastAcknowledgedMs = performance.now();
  #longestPauseMs = 0;
  #writingMs = 0;

  constructor(options: KillRunOptions, cluster: ProcessCluster) {
    this.#options = options;
    this.#cluster = cluster;
    this.#writers = LANES.map(({ kind, inFlight }, writer) => {
      const client = this.#client();
      const onAcknowledged = () => this.#noteAcknowledged();
      return new Writer({ writer, kind, inFlight, client, onAcknowledged });
    });
  }

  async run(): Promise<KillReport> {
    try {
      await this.#writeAndKill();
      if (this.#cluster.failures.length > 0) return this.#report(NOT_JUDGED, NOT_JUDGED);
      await this.#answersOfAll();
      const first = judge(await this.#states(), this.#writers);
      await this.#restartAll();
      // What a machine knows now, it knows from the disk alone.
      const second = judge(await this.#states(), this.#writers);
      return this.#report(first, second);
    } finally {
      await Promise.all(this.#clients.map((client) => client.close()));
    }
  }

  #client(): RaftClient {
    const client = this.#cluster.client();
    this.#clients.push(client);
    return client;
  }

  get #acknowledged(): number {
    return this.#writers.reduce((sum, { acknowledged }) => sum + acknowledged.count, 0);
  }

  async #writeAndKill(): Promise<void> {
    const { seconds, kills, writes, seed, onProgress } = this.#options;
    const random = new SeededRandom(seed);
    for (const writer of this.#writers) writer.start();
    const abort = new AbortController();
    let killing = true;
    const killed = killServers({
      cluster: this.#cluster,
      client: this.#client(),
      random,
      kills,
      seconds,
      onKill: (kill) => this.#kills.push(kill),
      signal: abort.signal,
    })
      .catch((error) => {
        if (!abort.signal.aborted) this.#findings.push(`killing: ${messageOf(error)}`);
      })
      .finally(() => {
        killing = false;
      });
    for (;;) {
      await sleep(PROGRESS_MS);
      const elapsedMs = performance.now() - this.#startMs;
      const acknowledged = this.#acknowledged;
      onProgress?.({ acknowledged, elapsedMs, kills: this.#kills });
      if (!killing && elapsedMs >= seconds * 1_000 && acknowledged >= writes) break;
      if (this.#writers.some(({ complaints }) => complaints.length > 0)) break;
      const isStuck = performance.now() - this.#lastAcknowledgedMs > STUCK_MS;
      const isLate = elapsedMs > seconds * 1_000 + EXTRA_MS;
      if (isStuck) this.#findings.push(`no write was acknowledged for ${STUCK_MS} ms`);
      if (isLate) this.#findings.push(`only ${acknowledged} of ${writes} writes acknowledged`);
      this.#findings.push(...this.#cluster.failures);
      if (this.#findings.length > 0) break;
    }
    abort.abort();
    await killed;
    this.#writingMs = performance.now() - this.#startMs;
  }

  /** Lets the writers come to an end. */
  async #answersOfAll(): Promise<void> {
    const limit = new AbortController();
    const stopped = Promise.all(this.#writers.map((writer) => writer.stop()));
    const timeout = sleep(ANSWER_TIMEOUT_MS, undefined, { signal: limit.signal });
    await Promise.race([stopped, timeout]);
    limit.abort();
    await timeout.catch(() => undefined);
    for (const writer of this.#writers) this.#findings.push(...writer.complaints);
  }

  /** What the servers have applied, once they agree, or what they have when they never do. */
  async #states(): Promise<Map<string, MachineState>> {
    const client = this.#client();
    const start = performance.now();
    for (;;) {
      const states = new Map<string, MachineState>();
      const isLate = performance.now() - start > AGREE_TIMEOUT_MS;
      const options = () => ({ signal: AbortSignal.timeout(AGREE_TIMEOUT_MS) });
      try {
        // Linearizable: it sees everything acknowledged, so all must come at least as far.
        const { writes } = decodeState((await client.io().sendReadOnly('', options())).message);
        for (const { id } of this.#cluster.peers) {
          const reply = await client.io().sendStaleRead('', 0, id, options());
          states.set(id, decodeState(reply.message));
        }
        const all = [...states.values()];
        const complete = sameStates(all) && all.every((state) => state.writes >= writes);
        if (isLate || complete) return states;
      } catch (error) {
        if (isLate) throw error;
      }
      await sleep(PROGRESS_MS);
    }
  }

  async #restartAll(): Promise<void> {
    const ids = this.#cluster.peers.map(({ id }) => id);
    await Promise.all(ids.map((id) => this.#cluster.killServer(id)));
    await Promise.all(ids.map((id) => this.#cluster.startServer(id)));
  }

  #noteAcknowledged(): void {
    const now = performance.now();
    this.#longestPauseMs = Math.max(this.#longestPauseMs, now - this.#lastAcknowledgedMs);
    this.#lastAcknowledgedMs = now;
  }

  #report(first: Verdict, second: Verdict): KillReport {
    const countOf = (wanted: WriterKind) =>
      this.#writers.reduce((sum, { kind, acknowledged }) => {
        return kind === wanted ? sum + acknowledged.count : sum;
      }, 0);
    const unanswered = this.#writers.reduce((sum, writer) => sum + writer.unanswered, 0);
    const findings = [...this.#findings, ...first.findings];
    findings.push(...second.findings.map((finding) => `after the restart of all: ${finding}`));
    if (unanswered > 0) findings.push(`${unanswered} writes were never answered`);
    if (this.#kills.length < this.#options.kills) findings.push('not all kills took place');
    const passed = findings.length === 0;
    return {
      seed: this.#options.seed,
      passed,
      acknowledged: { ordered: countOf('ordered'), unordered: countOf('unordered') },
      lost: first.lost + second.lost,
      appliedTwice: first.appliedTwice + second.appliedTwice,
      outOfOrder: first.outOfOrder + second.outOfOrder,
      equal: first.equal && second.equal,
      unanswered,
      kills: this.#kills,
      longestPauseMs: Math.round(this.#longestPauseMs),
      writingMs: Math.round(this.#writingMs),
      findings,
      directory: passed || this.#options.keepFiles !== true ? undefined : this.#cluster.directory,
    };
  }
}

/**
 * Three servers take ordered and unordered writes while they are killed and started again. At the
 * end every acknowledged write must be applied on every server, none twice, in the same order; and
 * once more after all three were killed at once, and have nothing but their disks.
 */
export async function runKills(options: KillRunOptions): Promise<KillReport> {
  const cluster = await ProcessCluster.start({
    stateMachine: MACHINE_PATH,
    tls: options.tls ?? true,
    properties: PROPERTIES,
    ...(options.commandPath === undefined ? {} : { commandPath: options.commandPath }),
  });
  let keepFiles = options.keepFiles === true;
  try {
    const report = await new KillRun(options, cluster).run();
    if (report.passed) {
      keepFiles = false;
      await cluster.stop();
    }
    return report;
  } finally {
    await cluster.kill({ keepFiles });
  }
}
