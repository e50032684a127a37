import { setTimeout as sleep } from 'node:timers/promises';
import type { RaftClient } from '../../client/index.js';
import { RaftPeerRole } from '../../protocol/peer.js';
import type { ProcessCluster } from '../process/index.js';
import type { SeededRandom } from './seeded-random.js';

/** One kill, for the report. */
export interface Kill {
  readonly server: string;
  readonly role: 'leader' | 'follower';
  /** Since the writes began. */
  readonly atMs: number;
  /** Until the server was ready again. */
  readonly downMs: number;
}

export interface KillerOptions {
  readonly cluster: ProcessCluster;
  /** For asking who leads. */
  readonly client: RaftClient;
  readonly random: SeededRandom;
  readonly kills: number;
  /** The kills are spread over this time. */
  readonly seconds: number;
  readonly onKill: (kill: Kill) => void;
  /** Ends it early; then it rejects. */
  readonly signal: AbortSignal;
}

const ASK_TIMEOUT_MS = 2_000;
const LEADER_TIMEOUT_MS = 60_000;
const ASK_AGAIN_MS = 50;
/** How long a killed server stays down. */
const DOWN_MIN_MS = 50;
const DOWN_MAX_MS = 2_500;

async function leads(client: RaftClient, id: string): Promise<boolean> {
  const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
  const info = await client
    .groupManagement(id)
    .info(undefined, { signal })
    .catch(() => undefined);
  return info?.role.role === RaftPeerRole.LEADER;
}

/** The server that leads. Rejects when there is none for a minute. */
async function findLeader(
  cluster: ProcessCluster,
  client: RaftClient,
  signal: AbortSignal,
): Promise<string> {
  const start = performance.now();
  while (performance.now() - start < LEADER_TIMEOUT_MS) {
    for (const { id } of cluster.peers) if (await leads(client, id)) return id;
    await sleep(ASK_AGAIN_MS, undefined, { signal });
  }
  throw new Error(`no server led within ${LEADER_TIMEOUT_MS} ms`);
}

/**
 * Kills servers at random moments, leaders and followers equally often, and starts each again
 * before the next is killed.
 */
export async function killServers(options: KillerOptions): Promise<void> {
  const { cluster, client, random, kills, seconds, onKill, signal } = options;
  const start = performance.now();
  const slotMs = (seconds * 1_000) / kills;
  const roles = random.shuffle(
    Array.from({ length: kills }, (_, i) => (i % 2 === 0 ? 'leader' : 'follower') as Kill['role']),
  );
  for (const [i, role] of roles.entries()) {
    const atMs = (i + random.between(0.2, 0.8)) * slotMs;
    const downMs = random.between(DOWN_MIN_MS, Math.min(DOWN_MAX_MS, slotMs / 3));
    const chance = random.fraction();
    await sleep(Math.max(0, atMs - (performance.now() - start)), undefined, { signal });
    const leader = await findLeader(cluster, client, signal);
    const followers = cluster.peers.map(({ id }) => id).filter((id) => id !== leader);
    const follower = followers[Math.floor(chance * followers.length)] ?? leader;
    const server = role === 'leader' ? leader : follower;
    const killedMs = performance.now();
    await cluster.killServer(server);
    await sleep(downMs);
    await cluster.startServer(server);
    onKill({
      server,
      role,
      atMs: Math.round(killedMs - start),
      downMs: Math.round(performance.now() - killedMs),
    });
  }
}
