import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntryKind } from '../proto/wire/types.js';
import { RaftPeerRole } from '../protocol/peer.js';
import { freshState, SingleEngine } from './scenario/single.test-support.js';
import type { EngineConfig } from './types.js';

/** A ready leader of three. */
function leader(config: Partial<EngineConfig> = {}): SingleEngine {
  const single = new SingleEngine(freshState('n1,n2,n3'), config);
  single.lead(['n2', 'n3']);
  single.replicate('n2');
  single.apply();
  single.commands();
  return single;
}

test('L-1, L-2: the office begins with a configuration entry, ready when it is applied', () => {
  const single = new SingleEngine(freshState('n1,n2,n3'));
  single.lead(['n2', 'n3']);
  assert.equal(single.engine.role, RaftPeerRole.LEADER);
  assert.equal(single.engine.leaderCheck(false), 'notReady');
  assert.equal(single.engine.propose(single.nowMs), undefined);
  single.replicate('n2');
  single.apply();
  assert.deepEqual(single.take('leaderReady'), [{ kind: 'leaderReady', startIndex: 0 }]);
  assert.equal(single.engine.leaderCheck(false), 'ok');
});

test('the own vote for a commit counts only after the own flush (I-9)', () => {
  const single = leader();
  single.engine.propose(single.nowMs);
  single.engine.proposed(single.nowMs);
  single.replicate('n2');
  single.replicate('n3');
  assert.equal(single.engine.commitIndex, 0);
  single.flush();
  assert.equal(single.engine.commitIndex, 1);
});

test('proposals of a turn wake each appender once, and their commit is told once', () => {
  const single = leader({ logMetadataEnabled: false });
  for (let i = 0; i < 100; i++) single.engine.propose(single.nowMs);
  single.engine.proposed(single.nowMs);
  single.engine.proposed(single.nowMs);
  const woken = single.take('wakeAppender').map((command) => command.peerId);
  assert.deepEqual(woken, ['n2', 'n3']);
  single.flush();
  single.replicate('n2');
  assert.deepEqual(single.take('commit'), [{ kind: 'commit', commitIndex: 100 }]);
});

test('RATIS-2134: a metadata entry rides behind proposals, names the last other entry', () => {
  const single = leader();
  const { engine } = single;
  engine.propose(single.nowMs);
  engine.proposed(single.nowMs);
  single.flush();
  single.replicate('n2');
  single.commands();
  engine.propose(single.nowMs);
  engine.proposed(single.nowMs);
  const [own] = single.take('appendOwn');
  assert.deepEqual(own?.header, {
    term: 1,
    index: 3,
    kind: EntryKind.METADATA,
    metadataCommitIndex: 1,
  });
});

test('without proposals a commit is recorded later, and a metadata entry causes none', () => {
  const single = leader();
  const { engine } = single;
  engine.propose(single.nowMs);
  engine.proposed(single.nowMs);
  single.flush();
  single.replicate('n2');
  single.commands();
  single.nowMs += 10;
  assert.ok(engine.deadlineMs() <= single.nowMs);
  engine.tick(single.nowMs);
  assert.equal(single.take('appendOwn').length, 1);
  single.flush();
  single.replicate('n2');
  assert.equal(engine.commitIndex, 2);
  single.nowMs += 20;
  engine.tick(single.nowMs);
  assert.equal(single.take('appendOwn').length, 0);
});

test('the commit of entry 0 is not recorded', () => {
  const single = leader();
  single.nowMs += 50;
  single.engine.tick(single.nowMs);
  assert.equal(single.take('appendOwn').length, 0);
});

test('RATIS-1415: the gap rule slows commits, and leaves watches alone', () => {
  const single = leader({ followerGapRatioMax: 0.5, writeElementLimit: 10 });
  const { engine } = single;
  single.replicate('n3');
  for (let i = 0; i < 20; i++) engine.propose(single.nowMs);
  engine.proposed(single.nowMs);
  single.flush();
  single.replicate('n2');
  assert.equal(engine.commitIndex, 0);
  assert.equal(engine.watchLevels?.all, 0);
  single.replicate('n3');
  assert.equal(engine.commitIndex, 20);
  assert.equal(engine.watchLevels?.all, 20);
});

test('H-5: a leader without answers steps down on its own timer, whatever else it does', () => {
  const single = leader();
  const until = single.nowMs + 500;
  while (single.nowMs < until && single.engine.role === RaftPeerRole.LEADER) {
    single.nowMs += 5;
    single.engine.propose(single.nowMs);
    single.engine.proposed(single.nowMs);
    single.flush();
    single.engine.tick(single.nowMs);
  }
  const last = single.take('roleChanged').at(-1);
  assert.equal(last?.stepDownReason, 'LOST_MAJORITY_HEARTBEATS');
  assert.equal(single.engine.leaderId, undefined);
});

test('E-4: after a lost majority there is no candidacy for the wait time', () => {
  const single = leader();
  single.nowMs += 150;
  single.engine.stepDown('LOST_MAJORITY_HEARTBEATS', single.nowMs);
  const stepped = single.nowMs;
  while (single.engine.role === RaftPeerRole.FOLLOWER) {
    single.nowMs = single.engine.deadlineMs();
    single.engine.tick(single.nowMs);
  }
  assert.ok(single.nowMs - stepped >= 10_000);
});

test('I-25: appenders stop before the term rises', () => {
  const single = leader();
  const reply = { result: 1, term: 9, nextIndex: 0, matchIndex: -1, followerCommit: -1 };
  single.engine.onAppendReply('n2', 1, { ...reply, callId: 0, isHeartbeat: true }, single.nowMs);
  const kinds = single.commands().map((command) => command.kind);
  assert.ok(kinds.indexOf('stopAppender') < kinds.indexOf('persistMetadata'));
  assert.equal(single.engine.currentTerm, 9);
});

test('a slow follower is reported, and not in every tick', () => {
  const single = leader({ rpcSlownessTimeoutMs: 1000 });
  let reports = 0;
  for (let i = 0; i < 40; i++) {
    single.nowMs += 75;
    single.replicate('n2');
    single.engine.tick(single.nowMs);
    reports += single.take('followerSlow').length;
  }
  assert.ok(reports >= 2 && reports <= 12, `${reports} reports`);
});

test('a failed log ends the office, and no other is sought', () => {
  const single = leader();
  single.engine.onLogFailed('no space', single.nowMs);
  assert.equal(single.engine.role, RaftPeerRole.FOLLOWER);
  assert.equal(single.engine.deadlineMs(), Number.POSITIVE_INFINITY);
  single.engine.onAppendRequest(
    9,
    {
      leaderId: 'n2',
      leaderTerm: 7,
      previous: undefined,
      entries: [],
      leaderCommit: -1,
      initializing: false,
    },
    single.nowMs,
  );
  assert.equal(single.take('failAppend')[0]?.failure.kind, 'logFailed');
});

test('a closing leader fails its reads and stops its appenders', () => {
  const single = leader();
  single.engine.readIndex(4, single.nowMs);
  single.commands();
  single.engine.close(single.nowMs);
  const kinds = single.commands().map((command) => command.kind);
  assert.deepEqual(kinds, [
    'stopAppender',
    'stopAppender',
    'readFailed',
    'leaderChanged',
    'roleChanged',
  ]);
  assert.equal(single.engine.lifeCycle, 'closed');
});
