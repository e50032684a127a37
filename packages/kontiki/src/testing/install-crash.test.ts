import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CrashingFileSystem } from '../runtime/vfs/crashing-file-system.test-support.js';
import { eventually } from './eventually.js';
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

class SavingStateMachine extends RecordingStateMachine {
  override takeSnapshot(): Promise<number> {
    return this.saveSnapshot(bytes(this.applied.join(',')));
  }

  protected override restore(content: Uint8Array): void {
    this.applied.splice(0, this.applied.length, ...text(content).split(','));
  }
}

test('a follower killed at any step of an installation comes back and catches up', async () => {
  let fs: CrashingFileSystem | undefined;
  let wounded = '';
  await using cluster = await MiniCluster.start({
    stateMachine: () => new SavingStateMachine(),
    options: { ...PURGING, 'raft.server.log.appender.snapshot.chunk.size.max': '512B' },
    fileSystem: (id) => (id === wounded ? fs : undefined),
  });
  const follower = await leaveBehind(cluster, { wipe: false });
  const [leader] = await followerOf(cluster);
  let count = 100;
  for (let crashAt = 1; ; crashAt += crashAt < 4 ? 1 : 4) {
    fs = new CrashingFileSystem();
    fs.crashAt = crashAt;
    // Counted from the first change that a transfer makes.
    fs.counts = (path) => path.includes('/tmp/snapshot-');
    wounded = follower;
    await cluster.startServer(follower);
    const crashing = fs;
    const division = cluster.division(follower);
    const done = count;
    await eventually('it crashed or caught up', () => {
      const isUp = machineOf(cluster, follower).applied.length === done;
      return crashing.hasCrashed || division.failure !== undefined || isUp;
    });
    await cluster.stopServer(follower);
    wounded = '';
    await cluster.startServer(follower);
    await cluster.waitForAgreement();
    assert.deepEqual(machineOf(cluster, follower).applied, textsUpTo(count), `step ${crashAt}`);
    const reached = cluster.division(follower).appliedIndex;
    await cluster.stopServer(follower);
    if (!crashing.hasCrashed) {
      assert.ok(crashing.steps > 20, `an installation took ${crashing.steps} steps`);
      break;
    }
    await writeTexts(cluster, count, count + 40);
    count += 40;
    await snapshotAndPurge(cluster, leader, reached);
  }
});
