import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshState, SingleEngine } from './scenario/single.test-support.js';
import type { AppendOffer, EngineConfig } from './types.js';

function leader(config: Partial<EngineConfig> = {}): SingleEngine {
  const single = new SingleEngine(freshState('n1,n2,n3'), { logMetadataEnabled: false, ...config });
  single.lead(['n2', 'n3']);
  single.replicate('n2');
  single.apply();
  single.commands();
  return single;
}

function propose(single: SingleEngine, count: number): void {
  for (let i = 0; i < count; i++) single.engine.propose(single.nowMs);
  single.engine.proposed(single.nowMs);
}

function entriesFor(single: SingleEngine): Extract<AppendOffer, { kind: 'entries' }> {
  const offer = single.engine.nextFor('n2', single.nowMs);
  assert.equal(offer.kind, 'entries');
  return offer as Extract<AppendOffer, { kind: 'entries' }>;
}

test('H-2: a heartbeat while data is in flight names no previous entry and commits nothing', () => {
  const single = leader();
  propose(single, 1);
  const { token } = entriesFor(single);
  single.engine.commitSend('n2', token, 1, single.nowMs);
  single.nowMs += 100;
  const offer = single.engine.nextFor('n2', single.nowMs);
  assert.equal(offer.kind, 'heartbeat');
  if (offer.kind !== 'heartbeat') return;
  const header = single.engine.commitSend('n2', offer.token, 0, single.nowMs);
  assert.equal(header?.previous, undefined);
  assert.equal(header?.leaderCommit, -1);
});

test('heartbeats and data share one counter of call ids', () => {
  const single = leader();
  propose(single, 1);
  const first = single.engine.commitSend('n2', entriesFor(single).token, 1, single.nowMs);
  single.nowMs += 100;
  const offer = single.engine.nextFor('n2', single.nowMs);
  assert.equal(offer.kind, 'heartbeat');
  if (offer.kind !== 'heartbeat') return;
  const second = single.engine.commitSend('n2', offer.token, 0, single.nowMs);
  assert.equal(second?.callId, (first?.callId ?? 0) + 1);
});

test('an offer goes stale when something else was sent, and after a change of office', () => {
  const single = leader();
  propose(single, 2);
  const { token } = entriesFor(single);
  assert.ok(single.engine.commitSend('n2', token, 1, single.nowMs));
  assert.equal(single.engine.commitSend('n2', token, 1, single.nowMs), undefined);
  const next = entriesFor(single);
  assert.equal(next.from, 2);
  single.engine.stepDown('FORCE', single.nowMs);
  assert.equal(single.engine.commitSend('n2', next.token, 1, single.nowMs), undefined);
});

test('a short send goes on where it ended', () => {
  const single = leader();
  propose(single, 5);
  const { token, from, to } = entriesFor(single);
  assert.deepEqual([from, to], [1, 5]);
  single.engine.commitSend('n2', token, 2, single.nowMs);
  assert.deepEqual([entriesFor(single).from, entriesFor(single).to], [3, 5]);
});

test('a stream begins with one probe, and has at most the allowed number in flight', () => {
  const single = leader({ outstandingAppendsMax: 2 });
  single.engine.onAppendStreamEnded('n2', 1, undefined, true, single.nowMs);
  propose(single, 5);
  single.engine.commitSend('n2', entriesFor(single).token, 1, single.nowMs);
  assert.equal(single.engine.nextFor('n2', single.nowMs).kind, 'idle');
  const reply = { result: 0, term: 1, nextIndex: 2, matchIndex: 1, followerCommit: 0 };
  const callId = 2;
  single.engine.onAppendReply('n2', 1, { ...reply, callId, isHeartbeat: false }, single.nowMs);
  single.engine.commitSend('n2', entriesFor(single).token, 1, single.nowMs);
  single.engine.commitSend('n2', entriesFor(single).token, 1, single.nowMs);
  assert.equal(single.engine.nextFor('n2', single.nowMs).kind, 'idle');
});

test('requests keep their distance when one is asked for', () => {
  const single = leader({ appenderWaitTimeMinMs: 5 });
  single.nowMs += 5;
  single.replicate('n2');
  single.apply();
  single.nowMs += 5;
  propose(single, 2);
  single.engine.commitSend('n2', entriesFor(single).token, 1, single.nowMs);
  assert.deepEqual(single.engine.nextFor('n2', single.nowMs), {
    kind: 'idle',
    untilMs: single.nowMs + 5,
  });
});

test('an error makes the appender pause, and a clean end does not', () => {
  const single = leader({ appenderRetryPauses: [[100, 5]] });
  propose(single, 1);
  single.engine.onAppendStreamEnded('n2', 1, undefined, false, single.nowMs);
  assert.deepEqual(single.engine.nextFor('n2', single.nowMs), {
    kind: 'idle',
    untilMs: single.nowMs + 50,
  });
});

test('H-18: replies to an older appender change nothing', () => {
  const single = leader();
  propose(single, 1);
  single.flush();
  single.engine.commitSend('n2', entriesFor(single).token, 1, single.nowMs);
  const reply = { result: 0, term: 1, nextIndex: 2, matchIndex: 1, followerCommit: 0, callId: 2 };
  single.engine.onAppendReply('n2', 99, { ...reply, isHeartbeat: false }, single.nowMs);
  assert.equal(single.engine.commitIndex, 0);
});

test('I-11: heartbeats raise no match index, and nobody can promise what was not sent', () => {
  const single = leader();
  propose(single, 3);
  single.flush();
  const reply = { result: 0, term: 1, nextIndex: 4, matchIndex: 3, followerCommit: 0, callId: 0 };
  single.engine.onAppendReply('n2', 1, { ...reply, isHeartbeat: true }, single.nowMs);
  single.engine.onAppendReply('n2', 1, { ...reply, isHeartbeat: false }, single.nowMs);
  assert.equal(single.engine.commitIndex, 0);
});

test('an unknown result is ignored', () => {
  const single = leader();
  const reply = { result: 77, term: 50, nextIndex: 0, matchIndex: 9, followerCommit: 9, callId: 0 };
  single.engine.onAppendReply('n2', 1, { ...reply, isHeartbeat: false }, single.nowMs);
  assert.equal(single.engine.currentTerm, 1);
});

test('entries that are gone from the log are a case for a snapshot, and heartbeats go on', () => {
  const single = leader();
  propose(single, 5);
  single.flush();
  single.replicate('n2');
  single.apply();
  single.engine.onSnapshotTaken({ term: 1, index: 5 }, single.nowMs);
  single.engine.onLogPurged(6);
  propose(single, 1);
  const offer = single.engine.nextFor('n3', single.nowMs);
  assert.equal(offer.kind, 'heartbeat');
  if (offer.kind !== 'heartbeat') return;
  single.engine.commitSend('n3', offer.token, 0, single.nowMs);
  assert.equal(single.engine.nextFor('n3', single.nowMs).kind, 'snapshot');
});
