import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RaftPeerRole } from '../protocol/peer.js';
import type { TermIndex } from '../protocol/term-index.js';
import { freshState, SingleEngine } from './scenario/single.test-support.js';
import type { EngineState, VoteReply, VoteRequest } from './types.js';
import { compareLastEntries } from './vote.js';

/** A voter whose log ends at (2, 5). */
function state(priorities?: Map<string, number>): EngineState {
  const fresh = freshState('n1,n2,n3', priorities);
  return { ...fresh, term: 2, lastIndex: 5, termRuns: [{ term: 2, index: 0 }] };
}

function ask(single: SingleEngine, request: Partial<VoteRequest>): VoteReply | undefined {
  const base = { candidateId: 'n2', candidateTerm: 3, preVote: false };
  const candidateLastEntry: TermIndex = { term: 2, index: 5 };
  single.engine.onVoteRequest(1, { ...base, candidateLastEntry, ...request }, single.nowMs);
  const reply = single.persistAll().find((command) => command.kind === 'replyVote');
  return reply?.reply;
}

/** Follows n3 in term 3 from now on. */
function follow(single: SingleEngine): void {
  const request = { leaderId: 'n3', leaderTerm: 3, previous: undefined, entries: [] };
  single.engine.onAppendRequest(
    7,
    { ...request, leaderCommit: -1, initializing: false },
    single.nowMs,
  );
  single.persistAll();
}

test('positions compare with missing ones (Appendix A)', () => {
  assert.equal(compareLastEntries(undefined, undefined), 0);
  assert.equal(compareLastEntries(undefined, { term: 0, index: 0 }), 0);
  assert.ok(compareLastEntries(undefined, { term: 1, index: 0 }) < 0);
  assert.ok(compareLastEntries({ term: 1, index: 0 }, undefined) > 0);
  assert.ok(compareLastEntries({ term: 2, index: 5 }, { term: 1, index: 9 }) > 0);
});

test('A1: a candidate that is no voter is refused, and its term is not taken over', () => {
  const single = new SingleEngine(state());
  assert.equal(ask(single, { candidateId: 'n9', candidateTerm: 50 })?.granted, false);
  assert.equal(single.engine.currentTerm, 2);
});

test('A2: an old term is refused', () => {
  assert.equal(ask(new SingleEngine(state()), { candidateTerm: 1 })?.granted, false);
});

test('A3: one vote a term', () => {
  const single = new SingleEngine(state());
  assert.equal(ask(single, { candidateId: 'n2' })?.granted, true);
  assert.equal(ask(single, { candidateId: 'n3' })?.granted, false);
  assert.equal(ask(single, { candidateId: 'n2' })?.granted, true);
});

test('A4: a higher term is recognised although a leader is alive', () => {
  const single = new SingleEngine(state());
  follow(single);
  assert.equal(ask(single, { candidateTerm: 4 })?.granted, true);
});

test('A6, RATIS-2008: while the leader is heard, only it gets a pre-vote', () => {
  const single = new SingleEngine(state());
  follow(single);
  assert.equal(ask(single, { preVote: true })?.granted, false);
  assert.equal(ask(single, { preVote: true, candidateId: 'n3' })?.granted, true);
  single.nowMs += 150;
  assert.equal(ask(single, { preVote: true })?.granted, true);
});

test('A7: a pre-vote looks at no term and changes none', () => {
  const single = new SingleEngine(state());
  assert.equal(ask(single, { preVote: true, candidateTerm: 1 })?.granted, true);
  assert.equal(single.engine.currentTerm, 2);
  assert.equal(single.engine.votedFor, undefined);
});

test('B3, B4: the longer log decides before priorities', () => {
  const priorities = new Map([['n1', 9]]);
  const longer = { term: 2, index: 6 };
  const shorter = { term: 2, index: 4 };
  assert.equal(
    ask(new SingleEngine(state(priorities)), { candidateLastEntry: longer })?.granted,
    true,
  );
  assert.equal(ask(new SingleEngine(state()), { candidateLastEntry: shorter })?.granted, false);
});

test('B6, B7: equal logs go by priority (P-1)', () => {
  const higher = new Map([['n1', 9]]);
  const lower = new Map([['n2', 9]]);
  assert.equal(ask(new SingleEngine(state(higher)), {})?.granted, false);
  assert.equal(ask(new SingleEngine(state(lower)), {})?.granted, true);
});

test('step C: a recognised candidate raises the term and restarts the timer, also refused', () => {
  const single = new SingleEngine(state());
  single.nowMs = 100;
  const reply = ask(single, { candidateLastEntry: { term: 1, index: 1 } });
  assert.deepEqual([reply?.granted, reply?.term], [false, 3]);
  assert.equal(single.engine.votedFor, undefined);
  assert.equal(single.engine.followerTimer(100)?.elapsedMs, 0);
  assert.ok(single.engine.deadlineMs() >= 250);
});

test('step C: a candidate steps back for a higher term', () => {
  const single = new SingleEngine(state());
  single.nowMs = 150;
  single.engine.tick(150);
  assert.equal(single.engine.role, RaftPeerRole.CANDIDATE);
  assert.equal(ask(single, { candidateTerm: 9 })?.granted, true);
  assert.equal(single.engine.role, RaftPeerRole.FOLLOWER);
});

test('A-2, I-3: a vote leaves only when it is durable', () => {
  const single = new SingleEngine(state());
  const request = { candidateId: 'n2', candidateTerm: 3, preVote: false };
  const candidateLastEntry = { term: 2, index: 5 };
  single.engine.onVoteRequest(1, { ...request, candidateLastEntry }, 0);
  const [write, ...others] = single.commands().filter((c) => c.kind !== 'leaderChanged');
  assert.deepEqual(write, { kind: 'persistMetadata', term: 3, votedFor: 'n2', sequence: 1 });
  assert.deepEqual(others, []);
  single.engine.onMetadataPersisted(1, 0);
  assert.equal(single.take('replyVote').length, 1);
});

test('H-16: an empty vote is no vote', () => {
  const single = new SingleEngine({ ...state(), votedFor: '' });
  assert.equal(ask(single, { candidateTerm: 2 })?.granted, true);
});

test('the last entry is told, (0, -1) when there is none', () => {
  assert.deepEqual(ask(new SingleEngine(state()), {})?.lastEntry, { term: 2, index: 5 });
  const fresh = new SingleEngine(freshState('n1,n2'));
  assert.deepEqual(ask(fresh, { preVote: true })?.lastEntry, { term: 0, index: -1 });
});
