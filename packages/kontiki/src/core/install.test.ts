import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EntryKind } from '../proto/wire/types.js';
import { createConfiguration } from '../protocol/configuration.js';
import { RaftPeerRole } from '../protocol/peer.js';
import { peersOf } from './scenario/parse.test-support.js';
import { freshState, SingleEngine } from './scenario/single.test-support.js';
import type { EntryHeader } from './types.js';

const PEERS = peersOf('n1,n2,n3', new Map());

function confAt(index: number, ids = 'n1,n2,n3') {
  const voters = peersOf(ids, new Map());
  return createConfiguration({ voters, listeners: [] }, undefined, index);
}

function writes(term: number, from: number, to: number): EntryHeader[] {
  const kind = EntryKind.STATE_MACHINE;
  return Array.from({ length: to - from + 1 }, (_, i) => ({ term, index: from + i, kind }));
}

/** n1 with the entries 0 to 9 of term 1, of which 0 to 3 are committed, following n2. */
function follower(): SingleEngine {
  const single = new SingleEngine(freshState('n1,n2,n3'));
  append(single, writes(1, 0, 9), 1, 3);
  single.persistAll();
  single.flush();
  single.commands();
  return single;
}

function append(
  single: SingleEngine,
  entries: EntryHeader[],
  leaderTerm: number,
  leaderCommit: number,
): void {
  const first = entries[0]?.index ?? 0;
  const term = first === 0 ? undefined : single.engine.termAt(first - 1);
  const previous = term === undefined ? undefined : { term, index: first - 1 };
  const request = { leaderId: 'n2', leaderTerm, previous, entries, leaderCommit };
  single.engine.onAppendRequest(1, { ...request, initializing: false }, single.nowMs);
}

function install(single: SingleEngine, term: number, index: number): number {
  return single.engine.onSnapshotInstalled({ term, index }, single.nowMs);
}

test('a snapshot behind the log starts it anew, and older flushes count no longer', () => {
  const single = follower();
  const generation = install(single, 2, 20);
  const { engine } = single;
  assert.equal(engine.lastIndex, 20);
  assert.equal(engine.commitIndex, 20);
  assert.equal(engine.appliedIndex, 20);
  assert.equal(engine.flushIndex, 20);
  assert.deepEqual(engine.lastEntry, { term: 2, index: 20 });
  assert.deepEqual(single.take('commit'), [{ kind: 'commit', commitIndex: 20 }]);
  engine.onLogFlushed({ term: 1, index: 25 }, generation - 1, 0);
  assert.equal(engine.flushIndex, 20);
  append(single, writes(2, 21, 22), 2, 20);
  assert.equal(single.take('appendEntries')[0]?.generation, generation);
});

test('a snapshot inside of the log keeps the entries behind it', () => {
  const single = follower();
  assert.equal(single.engine.prepareInstall({ term: 1, index: 6 }, 0), undefined);
  install(single, 1, 6);
  assert.equal(single.engine.lastIndex, 9);
  assert.equal(single.engine.commitIndex, 6);
});

test('what contradicts a snapshot is cut before it takes its place', () => {
  const single = follower();
  const cut = single.engine.prepareInstall({ term: 2, index: 6 }, 0);
  assert.equal(cut?.truncateFrom, 6);
  assert.equal(single.engine.lastIndex, 5);
  // Once more, after a crash in between: nothing is left to cut.
  assert.equal(single.engine.prepareInstall({ term: 2, index: 6 }, 0), undefined);
  install(single, 2, 6);
  assert.deepEqual(single.engine.lastEntry, { term: 2, index: 6 });
});

test('entries are refused while the state machine is replaced, heartbeats are not', () => {
  const single = follower();
  single.engine.setInstalling(true);
  append(single, writes(1, 10, 11), 1, 11);
  assert.equal(single.take('replyAppend')[0]?.reply.result, 2);
  append(single, [], 1, 11);
  assert.equal(single.take('replyAppend')[0]?.reply.result, 0);
  assert.equal(single.engine.lastIndex, 9);
});

test('a request of another leader, or of an older term, is not accepted', () => {
  const single = follower();
  const { engine } = single;
  assert.equal(engine.beginInstall('n3', 1, 0).accepted, false);
  assert.equal(engine.beginInstall('n2', 0, 0).accepted, false);
  assert.equal(engine.beginInstall('n1', 9, 0).accepted, false);
  assert.equal(engine.leaderId, 'n2');
  const ticket = engine.beginInstall('n3', 5, 0);
  assert.equal(ticket.accepted, true);
  assert.equal(ticket.term, 1);
  assert.equal(engine.currentTerm, 5);
  assert.equal(engine.leaderId, 'n3');
});

test('no election while a request is carried out, and one after it', () => {
  const single = follower();
  const { engine } = single;
  const ticket = engine.beginInstall('n2', 1, 0);
  for (let i = 0; i < 10; i++) {
    single.nowMs = engine.deadlineMs();
    engine.tick(single.nowMs);
  }
  assert.equal(engine.role, RaftPeerRole.FOLLOWER);
  engine.endInstall(ticket, single.nowMs);
  for (let i = 0; i < 2; i++) {
    single.nowMs = engine.deadlineMs();
    engine.tick(single.nowMs);
  }
  assert.equal(engine.role, RaftPeerRole.CANDIDATE);
});

test('a bundled configuration may lie ahead of the log, which then catches up with it', () => {
  const single = follower();
  const { engine } = single;
  assert.equal(engine.adoptConfiguration(confAt(30, 'n1,n2'), 0), true);
  assert.equal(engine.adoptConfiguration(confAt(30, 'n1,n2'), 0), false);
  assert.equal(engine.configuration.index, 30);
  const configuration = confAt(10, 'n1,n2,n3,n4');
  const entry = { term: 1, index: 10, kind: EntryKind.CONFIGURATION, configuration };
  append(single, [entry], 1, 3);
  assert.equal(engine.configuration.index, 30);
  assert.equal(engine.configuration.cur.voters.length, 2);
});

test('a bundled configuration replaces later ones that this server has from another leader', () => {
  const single = follower();
  const { engine } = single;
  const configuration = confAt(10, 'n1,n2,n3,n4');
  append(single, [{ term: 1, index: 10, kind: EntryKind.CONFIGURATION, configuration }], 1, 3);
  assert.equal(engine.configuration.index, 10);
  assert.equal(engine.adoptConfiguration(confAt(8), 0), true);
  assert.equal(engine.configuration.index, 8);
  assert.equal(engine.configuration.cur.voters.length, PEERS.length);
});

test('a follower with the snapshot gets the entries behind it', () => {
  const single = new SingleEngine(freshState('n1,n2,n3'));
  single.lead(['n2', 'n3']);
  single.replicate('n2');
  single.apply();
  const { engine } = single;
  for (let i = 0; i < 5; i++) engine.propose(0);
  engine.proposed(single.nowMs);
  single.flush();
  single.replicate('n2');
  single.apply();
  engine.onSnapshotTaken({ term: 1, index: 3 }, single.nowMs);
  engine.onLogPurged(3);
  let offer = engine.nextFor('n3', single.nowMs);
  if (offer.kind === 'heartbeat') {
    engine.commitSend('n3', offer.token, 0, single.nowMs);
    offer = engine.nextFor('n3', single.nowMs);
  }
  assert.equal(offer.kind, 'snapshot');
  if (offer.kind !== 'snapshot') return;
  engine.onSnapshotReply('n3', offer.token.epoch, { kind: 'attempted' }, single.nowMs);
  // An index that is not committed can't be in a snapshot.
  engine.onFollowerInstalled('n3', offer.token.epoch, 99, single.nowMs);
  assert.equal(engine.nextFor('n3', single.nowMs).kind, 'snapshot');
  engine.onFollowerInstalled('n3', offer.token.epoch, 3, single.nowMs);
  const next = engine.nextFor('n3', single.nowMs);
  assert.equal(next.kind === 'entries' && next.from, 4);
});
