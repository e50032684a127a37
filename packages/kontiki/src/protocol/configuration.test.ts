import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  allPeers,
  createConfiguration,
  initialConfiguration,
  type PeerSet,
  sameConfiguration,
} from './configuration.js';
import { createPeer, RaftPeerRole } from './peer.js';

const A = createPeer({ id: 'a' });
const B = createPeer({ id: 'b' });
const C = createPeer({ id: 'c', startupRole: RaftPeerRole.LISTENER });
const EMPTY: PeerSet = { voters: [], listeners: [] };

function voters(...peers: PeerSet['voters']): PeerSet {
  return { voters: peers, listeners: [] };
}

test('starts with roles by start-up role and without an index (spec: consensus 0.3)', () => {
  assert.deepEqual(initialConfiguration([A, C, B]), {
    cur: { voters: [A, B], listeners: [C] },
    old: undefined,
    index: -1,
  });
});

test('takes an old side without peers as absent', () => {
  assert.equal(createConfiguration(voters(A), EMPTY, 3).old, undefined);
});

test('refuses a peer that occurs twice in a side, as voter or listener', () => {
  const twice: PeerSet = { voters: [A], listeners: [A] };
  assert.throws(() => createConfiguration(voters(A, A), undefined, 0), /peer a occurs twice/);
  assert.throws(() => createConfiguration(twice, undefined, 0), /peer a occurs twice/);
  assert.throws(() => createConfiguration(voters(A), twice, 0), /peer a occurs twice/);
});

test('compares index, both sides and every field of peers, in any order (spec: H-20)', () => {
  const base = createConfiguration(voters(A, B), voters(A), 5);
  assert.ok(sameConfiguration(base, createConfiguration(voters(B, A), voters(A), 5)));
  for (const other of [
    createConfiguration(voters(A, B), voters(A), 6),
    createConfiguration(voters(A, B), undefined, 5),
    createConfiguration(voters(A), voters(A), 5),
    createConfiguration(voters(A, B), voters(B), 5),
    createConfiguration({ voters: [A], listeners: [B] }, voters(A), 5),
    createConfiguration(voters({ ...A, priority: 1 }, B), voters(A), 5),
  ]) {
    assert.ok(!sameConfiguration(base, other));
  }
});

test('lists every peer once, current before old, voters before listeners', () => {
  const old = createPeer({ id: 'old' });
  const conf = createConfiguration(
    { voters: [B], listeners: [C] },
    { voters: [old, { ...B, priority: 9 }], listeners: [A] },
    0,
  );
  assert.deepEqual(allPeers(conf), [B, old, C, A]);
});
