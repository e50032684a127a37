import assert from 'node:assert/strict';
import { test } from 'node:test';
import { eventually } from './eventually.js';
import { MiniCluster } from './mini-cluster.js';
import { bytes, RecordingStateMachine, text } from './recording-state-machine.js';

/** Keeps its texts in snapshots. */
class SavingStateMachine extends RecordingStateMachine {
  override takeSnapshot(): Promise<number> {
    return this.saveSnapshot(bytes(this.applied.join(',')));
  }

  protected override restore(content: Uint8Array): void {
    this.applied.splice(0, this.applied.length, ...text(content).split(','));
  }
}

const OPTIONS = {
  'raft.server.snapshot.auto.trigger.enabled': true,
  'raft.server.snapshot.auto.trigger.threshold': 20,
  'raft.server.log.purge.gap': 1,
  'raft.server.log.purge.upto.snapshot.index': true,
  'raft.server.log.segment.size.max': '1KB',
};

test('snapshots are taken by trigger, and a restart starts from there', async () => {
  await using cluster = await MiniCluster.start({
    servers: 1,
    stateMachine: () => new SavingStateMachine(),
    options: OPTIONS,
  });
  const texts = Array.from({ length: 100 }, (_, i) => `w${i}`);
  for (const one of texts) await cluster.write(bytes(one));
  await eventually('a snapshot covers most', () => {
    const snapshot = cluster.division('n0').stateMachine.getLatestSnapshot();
    return (snapshot?.termIndex.index ?? -1) > 60;
  });
  await cluster.restartServer('n0');
  assert.equal(text((await cluster.read(bytes('all'))).message), texts.join(','));
  assert.equal((await cluster.write(bytes('more'))).success, true);
  const machine = cluster.division('n0').stateMachine as SavingStateMachine;
  assert.equal(machine.applied.length, 101);
  assert.ok(machine.positions.length < 101, 'the restart replayed everything');
});

test('a snapshot on request tells the index that it covers', async () => {
  await using cluster = await MiniCluster.start({
    servers: 1,
    stateMachine: () => new SavingStateMachine(),
  });
  const written = await cluster.write(bytes('a'));
  const index = await cluster.division('n0').takeSnapshot(1, 5000);
  assert.ok(index >= written.logIndex);
  assert.equal(await cluster.division('n0').takeSnapshot(1000, 5000), index);
});
