import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import type { MiniCluster } from './mini-cluster.js';
import { bytes, type RecordingStateMachine } from './recording-state-machine.js';

/** Small segments, purged up to the snapshot. */
export const PURGING = {
  'raft.server.log.purge.gap': 1,
  'raft.server.log.purge.upto.snapshot.index': true,
  'raft.server.log.segment.size.max': '1KB',
  'raft.server.log.appender.snapshot.chunk.size.max': '1KB',
};

export async function writeTexts(cluster: MiniCluster, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const reply = await cluster.write(bytes(`w${i}`));
    assert.equal(reply.success, true);
  }
}

export function machineOf(cluster: MiniCluster, id: string): RecordingStateMachine {
  return cluster.division(id).stateMachine as RecordingStateMachine;
}

export function textsUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `w${i}`);
}

export async function followerOf(
  cluster: MiniCluster,
): Promise<[leader: string, follower: string]> {
  const leader = cluster.idOf(await cluster.waitForLeader());
  const follower = cluster.peers.find((peer) => peer.id !== leader)?.id ?? '';
  return [leader, follower];
}

/** Stops a follower, and has the leader purge what it will lack. */
export async function leaveBehind(
  cluster: MiniCluster,
  options: { wipe: boolean },
): Promise<string> {
  const [leader, follower] = await followerOf(cluster);
  await writeTexts(cluster, 0, 10);
  await cluster.stopServer(follower);
  if (options.wipe) await rm(join(cluster.directory, follower), { recursive: true });
  await writeTexts(cluster, 10, 100);
  await snapshotAndPurge(cluster, leader);
  return follower;
}

/** Has a server take a snapshot, and waits until its log begins behind `beyond`. */
export async function snapshotAndPurge(
  cluster: MiniCluster,
  leader: string,
  beyond = 0,
): Promise<void> {
  await cluster.division(leader).takeSnapshot(1, 5000);
  const current = join(cluster.division(leader).storageDirectory ?? '', 'current');
  await eventually('the log is purged', () => {
    const starts = readdirSync(current).map((name) => /^log_(?:inprogress_)?(\d+)/.exec(name)?.[1]);
    return starts.every((start) => start === undefined || Number(start) > beyond);
  });
}
