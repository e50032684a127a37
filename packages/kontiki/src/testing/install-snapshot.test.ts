import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { cp, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import type { RaftPeer } from '../protocol/peer.js';
import type { TermIndex } from '../protocol/term-index.js';
import { eventually } from './eventually.js';
import { FilesStateMachine } from './files-state-machine.js';
import { MiniCluster } from './mini-cluster.js';
import { bytes, RecordingStateMachine, text } from './recording-state-machine.js';
import {
  followerOf,
  leaveBehind,
  machineOf,
  PURGING,
  snapshotAndPurge,
  textsUpTo,
  writeTexts,
} from './snapshot-helpers.test-support.js';

for (const wipe of [false, true]) {
  const what = wipe ? 'an empty' : 'a lagging';
  test(`${what} follower is brought up by a snapshot of several files, in chunks`, async () => {
    await using cluster = await MiniCluster.start({
      stateMachine: () => new FilesStateMachine(),
      options: PURGING,
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

/** Snapshots of one file with an MD5 beside it. */
class OneFileStateMachine extends RecordingStateMachine {
  override takeSnapshot(): Promise<number> {
    return this.saveSnapshot(bytes(this.applied.join(',')));
  }

  protected override restore(content: Uint8Array): void {
    this.applied.splice(0, this.applied.length, ...text(content).split(','));
  }
}

function temporaryOf(cluster: MiniCluster, id: string): string {
  return join(cluster.division(id).storageDirectory ?? '', 'tmp');
}

function temporaryFiles(cluster: MiniCluster, id: string): string[] {
  const directory = temporaryOf(cluster, id);
  return existsSync(directory) ? readdirSync(directory) : [];
}

test('a file whose MD5 differs is refused and kept aside; the next snapshot is taken', async () => {
  await using cluster = await MiniCluster.start({
    stateMachine: () => new OneFileStateMachine(),
    options: PURGING,
  });
  const follower = await leaveBehind(cluster, { wipe: false });
  const [leader] = await followerOf(cluster);
  const file = machineOf(cluster, leader).getLatestSnapshot()?.files[0]?.path ?? '';
  const content = await readFile(file);
  content[3] = (content[3] ?? 0) ^ 1;
  await writeFile(file, content);
  await cluster.startServer(follower);
  await eventually('the damaged file is kept', () => {
    return temporaryFiles(cluster, follower).some((name) => /\.corrupt\d{8}-/.test(name));
  });
  assert.equal(cluster.division(follower).failure, undefined);
  assert.ok(machineOf(cluster, follower).applied.length <= 10);
  await writeTexts(cluster, 100, 110);
  await cluster.division(leader).takeSnapshot(1, 5000);
  await cluster.waitForAgreement();
  assert.deepEqual(machineOf(cluster, follower).applied, textsUpTo(110));
  assert.equal(temporaryFiles(cluster, follower).filter((one) => one.endsWith('.md5')).length, 0);
});

test('a transfer that is cut off starts over, and leaves nothing behind', async () => {
  await using cluster = await MiniCluster.start({
    stateMachine: () => new FilesStateMachine(),
    options: { ...PURGING, 'raft.server.log.appender.snapshot.chunk.size.max': '64B' },
  });
  const follower = await leaveBehind(cluster, { wipe: true });
  await cluster.startServer(follower);
  for (let i = 0; i < 3; i++) {
    const before = temporaryFiles(cluster, follower)[0];
    await eventually('a transfer is under way', () => {
      const [now] = temporaryFiles(cluster, follower);
      return now !== undefined && now !== before;
    });
    cluster.isolate(follower);
    assert.equal(machineOf(cluster, follower).applied.length, 0);
    await writeTexts(cluster, 100 + i, 101 + i);
    cluster.rejoin(follower);
  }
  await cluster.waitForAgreement();
  assert.deepEqual(machineOf(cluster, follower).applied, textsUpTo(103));
  assert.deepEqual(temporaryFiles(cluster, follower), []);
});

test('writes go on, and heartbeats keep the follower quiet, while a snapshot is sent', async () => {
  await using cluster = await MiniCluster.start({
    stateMachine: () => new FilesStateMachine(),
    options: { ...PURGING, 'raft.server.log.appender.snapshot.chunk.size.max': '64B' },
  });
  const follower = await leaveBehind(cluster, { wipe: true });
  const leader = await cluster.waitForLeader();
  const term = leader.currentTerm;
  await cluster.startServer(follower);
  await eventually('the transfer began', () => temporaryFiles(cluster, follower).length > 0);
  let during = 0;
  for (let i = 100; i < 160; i++) {
    await writeTexts(cluster, i, i + 1);
    if (machineOf(cluster, follower).applied.length === 0) during++;
  }
  await cluster.waitForAgreement();
  assert.ok(during >= 5, `only ${during} writes were answered during the transfer`);
  assert.equal(leader.currentTerm, term);
  assert.deepEqual(machineOf(cluster, follower).applied, textsUpTo(160));
});

/** Fetches the snapshot of whoever has one. */
class FetchingStateMachine extends FilesStateMachine {
  static cluster: MiniCluster;
  readonly installed: string[] = [];
  asked = 0;
  fail = 0;

  async notifyInstallSnapshotFromLeader(): Promise<TermIndex | undefined> {
    if (this.asked++ < this.fail) throw new Error('not now');
    const { cluster } = FetchingStateMachine;
    const machines = cluster.divisions().map((one) => one.stateMachine as FetchingStateMachine);
    const source = machines.find((one) => one.getLatestSnapshot() !== undefined);
    const snapshot = source?.getLatestSnapshot();
    if (source === undefined || snapshot === undefined) return undefined;
    const { term, index } = snapshot.termIndex;
    const name = `state.${term}_${index}`;
    await cp(join(source.directory, name), join(this.directory, name), { recursive: true });
    return snapshot.termIndex;
  }

  notifySnapshotInstalled(result: string, _index: number, peer: RaftPeer): void {
    this.installed.push(`${result} ${peer.id}`);
  }
}

test('H-14: a state machine fetches a snapshot when told, and again after a failure', async () => {
  let fail = 0;
  await using cluster = await MiniCluster.start({
    stateMachine: () => Object.assign(new FetchingStateMachine(), { fail }),
    options: { ...PURGING, 'raft.server.log.appender.install.snapshot.enabled': false },
  });
  FetchingStateMachine.cluster = cluster;
  const follower = await leaveBehind(cluster, { wipe: true });
  const [leader] = await followerOf(cluster);
  fail = 2;
  await cluster.startServer(follower);
  await writeTexts(cluster, 100, 120);
  await cluster.waitForAgreement();
  const machine = machineOf(cluster, follower) as FetchingStateMachine;
  assert.deepEqual(machine.applied, textsUpTo(120));
  assert.equal(machine.asked, 3);
  assert.deepEqual(machine.installed, [`SNAPSHOT_INSTALLED ${follower}`]);
  const told = (machineOf(cluster, leader) as FetchingStateMachine).installed;
  assert.deepEqual(told, [`SUCCESS ${follower}`]);
});

test('a log is purged up to what all members have, unless told otherwise', async () => {
  const options = { ...PURGING, 'raft.server.log.purge.upto.snapshot.index': false };
  await using cluster = await MiniCluster.start({
    stateMachine: () => new OneFileStateMachine(),
    options,
  });
  const [leader, follower] = await followerOf(cluster);
  await cluster.stopServer(follower);
  await writeTexts(cluster, 0, 100);
  await cluster.division(leader).takeSnapshot(1, 5000);
  const current = join(cluster.division(leader).storageDirectory ?? '', 'current');
  assert.ok(readdirSync(current).some((name) => name.startsWith('log_0-')));
  await cluster.startServer(follower);
  await cluster.waitForAgreement();
  await writeTexts(cluster, 100, 101);
  await snapshotAndPurge(cluster, leader);
});
