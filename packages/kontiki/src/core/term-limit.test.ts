import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntryKind } from '../proto/wire/types.js';
import { RaftPeerRole } from '../protocol/peer.js';
import { freshState, GRANTED, SingleEngine } from './scenario/single.test-support.js';
import type { AppendRequest, EntryHeader } from './types.js';

const HUGE = 2 ** 53 - 1;

/** Appends to an engine that follows n2 in term 1, and says how that was refused. */
function refusalOf(single: SingleEngine, request: Partial<AppendRequest>): string | undefined {
  const base = {
    leaderId: 'n2',
    leaderTerm: 1,
    previous: undefined,
    entries: [],
    leaderCommit: -1,
  };
  single.engine.onAppendRequest(1, { ...base, initializing: false, ...request }, single.nowMs);
  const failure = single.persistAll().find((command) => command.kind === 'failAppend')?.failure;
  return failure?.kind === 'malformed' ? failure.message : failure?.kind;
}

test('a term beyond what elections can reach is refused from a leader', () => {
  const single = new SingleEngine(freshState('n1,n2,n3'));
  assert.match(refusalOf(single, { leaderTerm: HUGE }) ?? '', /^term 9007199254740991 cannot/);
  assert.equal(single.engine.currentTerm, 0);
  assert.equal(refusalOf(single, { leaderTerm: 2 ** 52 }), undefined);
  assert.equal(refusalOf(single, { leaderTerm: 2 ** 52 + 1 }), undefined);
});

test('a term beyond what elections can reach is refused from a candidate', () => {
  const single = new SingleEngine(freshState('n1,n2,n3'));
  const request = { candidateId: 'n2', candidateTerm: HUGE, candidateLastEntry: undefined };
  single.engine.onVoteRequest(1, { ...request, preVote: false }, 0);
  assert.match(single.take('failVote')[0]?.malformed ?? '', /^term 9007199254740991 cannot/);
  assert.equal(single.engine.currentTerm, 0);
});

test('such a term in a reply neither ends an election nor an office', () => {
  const single = new SingleEngine(freshState('n1,n2,n3'));
  single.nowMs = single.engine.deadlineMs();
  single.engine.tick(single.nowMs);
  const electionId = single.take('requestVote')[0]?.electionId ?? 0;
  const reply = { ...GRANTED, granted: false, term: HUGE };
  single.engine.onVoteReply(electionId, 'n2', reply, single.nowMs);
  assert.equal(single.engine.currentTerm, 0);

  const leader = new SingleEngine(freshState('n1,n2,n3'));
  leader.lead(['n2']);
  const offer = leader.engine.nextFor('n2', leader.nowMs);
  assert.ok(offer.kind === 'heartbeat');
  const header = leader.engine.commitSend('n2', offer.token, 0, leader.nowMs);
  const ids = { callId: header?.callId ?? -1, isHeartbeat: true, followerCommit: -1 };
  const refusal = { result: 1, term: HUGE, nextIndex: 0, matchIndex: -1 };
  leader.engine.onAppendReply('n2', offer.token.epoch, { ...refusal, ...ids }, leader.nowMs);
  assert.equal(leader.engine.role, RaftPeerRole.LEADER);
  assert.equal(leader.engine.currentTerm, 1);
});

test('a metadata entry cannot record itself as committed', () => {
  const single = new SingleEngine(freshState('n1,n2,n3'));
  const entry = (metadataCommitIndex: number): EntryHeader => {
    return { term: 1, index: 0, kind: EntryKind.METADATA, metadataCommitIndex };
  };
  assert.match(refusalOf(single, { entries: [entry(5)] }) ?? '', /entry 0 says that 5/);
  assert.equal(refusalOf(single, { entries: [entry(-1)] }), undefined);
});
