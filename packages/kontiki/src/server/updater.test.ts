import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createMetadataEntry, createStateMachineEntry } from '../proto/wire/index.js';
import type { LogEntry } from '../proto/wire/types.js';
import { StateMachineException } from '../protocol/exceptions.js';
import { RaftPeerRole } from '../protocol/peer.js';
import type { StateMachine, TransactionContext } from '../statemachine/types.js';
import type { RaftLog } from '../storage/types.js';
import { Transaction } from './transaction-context.js';
import { type ApplyResult, Updater } from './updater.js';

type Applied = Promise<Uint8Array | undefined> | Uint8Array | undefined;

/** An updater over entries in memory; `apply` answers for the state machine. */
class Fixture {
  readonly calls: string[] = [];
  readonly completed: [number, ApplyResult][] = [];
  readonly failures: Error[] = [];
  readonly updater: Updater;
  readonly entries: LogEntry[] = [];
  /** Entries that are not in the cache. */
  readonly evicted = new Set<number>();
  wakes = 0;
  apply: (index: number) => Applied = () => undefined;

  constructor(kinds: string) {
    [...kinds].forEach((kind, index) => {
      this.entries.push(
        kind === 'm' ? createMetadataEntry(1, index, index - 1) : writeEntry(index),
      );
    });
    const log = {
      getCached: (index: number) => (this.evicted.has(index) ? undefined : this.entries[index]),
      read: (from: number, to: number) => Promise.resolve(this.entries.slice(from, to + 1)),
    } as unknown as RaftLog;
    const machine = {
      applyTransactionSerial: (context: TransactionContext) => {
        this.calls.push(`serial ${context.logEntry?.index}`);
      },
      applyTransaction: (context: TransactionContext) => {
        const index = context.logEntry?.index ?? -1;
        this.calls.push(`apply ${index}`);
        return this.apply(index);
      },
      events: {
        notifyTermIndexUpdated: (_term: number, index: number) => {
          this.calls.push(`updated ${index}`);
        },
      },
    } as unknown as StateMachine;
    this.updater = new Updater(log, machine, -1, {
      nowMs: () => 0,
      transactionOf: (entry) => Transaction.ofEntry(RaftPeerRole.FOLLOWER, entry),
      completed: (entry, _transaction, result) => this.completed.push([entry.index, result]),
      configurationApplied: () => undefined,
      wake: () => {
        this.wakes++;
      },
      failed: (error) => this.failures.push(error),
    });
  }
}

function writeEntry(index: number): LogEntry {
  return createStateMachineEntry({
    term: 1,
    index,
    logData: Uint8Array.of(index),
    data: undefined,
    type: 0,
    clientId: new Uint8Array(16),
    callId: index,
  });
}

test('S-2: entries are applied in order up to the commit index, each after its serial call', () => {
  const f = new Fixture('wmww');
  f.updater.setCommitIndex(2);
  assert.equal(f.updater.step(), true);
  assert.deepEqual(f.calls, ['serial 0', 'apply 0', 'updated 1', 'serial 2', 'apply 2']);
  assert.equal(f.updater.appliedIndex, 2);
  assert.equal(f.updater.step(), false);
});

test('H-4: what is reported as applied is the contiguous prefix', async () => {
  const f = new Fixture('www');
  let finish: (value: undefined) => void = () => undefined;
  f.apply = (index) =>
    index === 0 ? new Promise((resolve) => (finish = resolve)) : Uint8Array.of(index);
  f.updater.setCommitIndex(2);
  assert.equal(f.updater.step(), false);
  assert.equal(f.updater.appliedIndex, -1);
  assert.deepEqual(
    f.completed.map(([index]) => index),
    [1, 2],
  );
  finish(undefined);
  await Promise.resolve();
  assert.equal(f.updater.appliedIndex, 2);
  assert.equal(f.updater.step(), true);
});

test('a rejected apply and a thrown StateMachineException count as applied', async () => {
  const f = new Fixture('ww');
  const thrown = new StateMachineException(undefined, 'Error', 'no');
  f.apply = (index) => {
    if (index === 1) throw thrown;
    return Promise.reject(new RangeError('rejected'));
  };
  f.updater.setCommitIndex(1);
  f.updater.step();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(f.updater.appliedIndex, 1);
  const failures = new Map(f.completed.map(([index, result]) => [index, result.failure]));
  assert.equal(failures.get(0)?.message, 'rejected');
  assert.equal(failures.get(1), thrown);
  assert.deepEqual(f.failures, []);
});

test('a StateMachineException of another copy of the package counts as one', () => {
  const f = new Fixture('ww');
  f.apply = (index) => {
    if (index === 0) throw Object.assign(new Error('no'), { code: 'RAFT_STATE_MACHINE' });
    return undefined;
  };
  f.updater.setCommitIndex(1);
  f.updater.step();
  assert.deepEqual(f.failures, []);
  assert.equal(f.updater.appliedIndex, 1);
});

test('any other throw is fatal, and nothing more is applied', () => {
  const f = new Fixture('www');
  f.apply = (index) => {
    if (index === 1) throw new TypeError('fatal');
    return undefined;
  };
  f.updater.setCommitIndex(2);
  f.updater.step();
  f.updater.step();
  assert.equal(f.failures[0]?.message, 'applying entry 1 failed: fatal');
  assert.equal(f.updater.appliedIndex, 0);
  assert.equal(f.calls.includes('apply 2'), false);
});

test('entries that left the cache are read, and applied once they are there', async () => {
  const f = new Fixture('wwww');
  f.evicted.add(1).add(2);
  f.updater.setCommitIndex(3);
  f.updater.step();
  assert.equal(f.updater.appliedIndex, 0);
  await Promise.resolve();
  assert.equal(f.wakes, 1);
  f.updater.step();
  assert.equal(f.updater.appliedIndex, 3);
});

test('S-4: a job waits for applies under way, and nothing starts meanwhile', async () => {
  const f = new Fixture('ww');
  let finish: (value: undefined) => void = () => undefined;
  f.apply = () => new Promise((resolve) => (finish = resolve));
  f.updater.setCommitIndex(0);
  f.updater.step();
  let held = false;
  let end: () => void = () => undefined;
  const job = () => {
    held = true;
    return new Promise<void>((resolve) => (end = resolve));
  };
  f.updater.exclusive(job, () => assert.fail('dropped'));
  f.updater.setCommitIndex(1);
  f.updater.step();
  assert.equal(held, false);
  finish(undefined);
  await Promise.resolve();
  f.updater.step();
  assert.equal(held, true);
  assert.equal(f.calls.includes('apply 1'), false);
  end();
  await new Promise((resolve) => setImmediate(resolve));
  f.updater.step();
  assert.equal(f.calls.includes('apply 1'), true);
});

test('applies go on behind a snapshot that an exclusive job loads', async () => {
  const f = new Fixture('wwww');
  f.updater.setCommitIndex(0);
  f.updater.step();
  f.updater.exclusive(
    async () => f.updater.reload(2),
    () => assert.fail('dropped'),
  );
  f.updater.step();
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(f.updater.appliedIndex, 2);
  f.updater.setCommitIndex(3);
  f.updater.step();
  assert.equal(f.updater.appliedIndex, 3);
  assert.equal(f.calls.includes('apply 1'), false);
  assert.throws(() => f.updater.reload(9), { message: /while entries are applied/ });
});

test('an exclusive job of an updater that failed is dropped', async () => {
  const f = new Fixture('w');
  f.apply = () => {
    throw new Error('broken');
  };
  f.updater.setCommitIndex(0);
  f.updater.step();
  let dropped = false;
  f.updater.exclusive(
    () => assert.fail('run'),
    () => {
      dropped = true;
    },
  );
  f.updater.step();
  assert.equal(dropped, true);
});
