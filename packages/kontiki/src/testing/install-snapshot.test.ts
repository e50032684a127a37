import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from './eventually.js';
import { FilesStateMachine } from './files-state-machine.js';
import { MiniCluster } from './mini-cluster.js';
import { bytes, type RecordingStateMachine, text } from './recording-state-machine.js';

const OPTIONS = {
  'raft.server.log.purge.gap': 1,
  'raft.server.log.purge.upto.snapshot.index': true,
  'raft.server.log.segment.size.max': '1KB',
  'raft.server.log.appender.snapshot.chunk.size.max': '1KB',
};

async function writeTexts(cluster: MiniCluster, from: number, to: number): Promise<void> {
  for (let i = from; i < to; i++) {
    const reply = await cluster.write(bytes(`w${i}`));
    assert.equal(reply.success, true);
  }
}

function machineOf(cluster: MiniCluster, id: string): RecordingStateMachine {
  return cluster.division(id).stateMachine as RecordingStateMachine;
}

function textsUpTo(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `w${i}`);
}

async function followerOf(cluster: MiniCluster): Promise<[leader: string, follower: string]> {
  const leader = cluster.idOf(await cluster.waitForLeader());
  const follower = cluster.peers.find((peer) => peer.id !== leader)?.id ?? '';
  return [leader, follower];
}

/** Stops a follower, and has the leader purge what it will lack. */
async function leaveBehind(cluster: MiniCluster, options: { wipe: boolean }): Promise<string> {
  const [leader, follower] = await followerOf(cluster);
  await writeTexts(cluster, 0, 10);
  await cluster.stopServer(follower);
  if (options.wipe) await rm(join(cluster.directory, follower), { recursive: true });
  await writeTexts(cluster, 10, 100);
  await cluster.division(leader).takeSnapshot(1, 5000);
  const current = join(cluster.division(leader).storageDirectory ?? '', 'current');
  await eventually('the log is purged', () => {
    return readdirSync(current).every((name) => !name.startsWith('log_0-'));
  });
  return follower;
}

for (const wipe of [false, true]) {
  const what = wipe ? 'an empty' : 'a lagging';
  test(`${what} follower is brought up by a snapshot of several files, in chunks`, async () => {
    await using cluster = await MiniCluster.start({
      stateMachine: () => new FilesStateMachine(),
      options: OPTIONS,
    });
    const follower = await leaveBehind(cluster, { wipe });
    await cluster.startServer(follower);
    await writeTexts(cluster, 100, 120);
    await cluster.waitForAgreement();
    const machine = machineOf(cluster, follower) as FilesStateMachine;
    assert.deepEqual(machine.applied, textsUpTo(120));
    assert.deepEqual(machine.calls, ['pause', 'reinitialize']);
    const root = cluster.division(follower).storageDirectory ?? '';
    assert.deepEqual(await readdir(join(root, 'tmp')).catch(() => []), []);
    assert.equal((await readdir(root)).includes('sm.replaced'), false);
    // What was installed is there after a restart, too.
    await cluster.restartServer(follower);
    await cluster.waitForAgreement();
    assert.deepEqual(machineOf(cluster, follower).applied, textsUpTo(120));
    assert.equal(text((await cluster.read(bytes('count'))).message), '120');
  });
}
