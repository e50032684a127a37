import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createGroup, findPeer } from './group.js';
import { RaftGroupId } from './ids.js';
import {
  adminAddressOf,
  clientAddressOf,
  createPeer,
  RaftPeerRole,
  roleName,
  samePeer,
} from './peer.js';

const BAD_ARGUMENT = { code: 'KONTIKI_INVALID_ARGUMENT' };
const GROUP_ID = RaftGroupId.parse('demoRaftGroup123');

test('starts as a follower of priority 0 without addresses', () => {
  assert.deepEqual(createPeer({ id: 'n0' }), {
    id: 'n0',
    address: '',
    clientAddress: '',
    adminAddress: '',
    dataStreamAddress: '',
    priority: 0,
    startupRole: RaftPeerRole.FOLLOWER,
  });
});

test('refuses an empty id', () => {
  assert.throws(() => createPeer({ id: '' }), BAD_ARGUMENT);
});

test('takes priorities from 0 to 2^31-1 only (spec: P-1)', () => {
  assert.equal(createPeer({ id: 'a', priority: 2 ** 31 - 1 }).priority, 2 ** 31 - 1);
  for (const priority of [-1, 2 ** 31, 1.5, Number.NaN]) {
    assert.throws(() => createPeer({ id: 'a', priority }), BAD_ARGUMENT);
  }
});

test('uses the server address where a role has none', () => {
  const plain = createPeer({ id: 'a', address: 'h:1' });
  assert.deepEqual([clientAddressOf(plain), adminAddressOf(plain)], ['h:1', 'h:1']);
  const own = createPeer({ id: 'a', address: 'h:1', clientAddress: 'h:2', adminAddress: 'h:3' });
  assert.deepEqual([clientAddressOf(own), adminAddressOf(own)], ['h:2', 'h:3']);
});

test('tells peers apart by every field', () => {
  const base = createPeer({ id: 'a' });
  assert.ok(samePeer(base, { ...base }));
  for (const change of [
    { id: 'b' },
    { address: 'x' },
    { clientAddress: 'x' },
    { adminAddress: 'x' },
    { dataStreamAddress: 'x' },
    { priority: 1 },
    { startupRole: RaftPeerRole.LISTENER },
  ]) {
    assert.ok(!samePeer(base, { ...base, ...change }), JSON.stringify(change));
  }
});

test('names roles as they are printed', () => {
  assert.deepEqual(
    Object.entries(RaftPeerRole).map(([, role]) => roleName(role)),
    ['LEADER', 'CANDIDATE', 'FOLLOWER', 'LISTENER'],
  );
});

test('finds a peer of a group by its id', () => {
  const group = createGroup(GROUP_ID, [createPeer({ id: 'a' }), createPeer({ id: 'b' })]);
  assert.equal(findPeer(group, 'b'), group.peers[1]);
  assert.equal(findPeer(group, 'c'), undefined);
});

test('refuses the all-zero group id and two peers of one id (spec: client 1)', () => {
  assert.throws(() => createGroup(RaftGroupId.of(new Uint8Array(16)), []), BAD_ARGUMENT);
  const twice = [createPeer({ id: 'a' }), createPeer({ id: 'a' })];
  assert.throws(() => createGroup(GROUP_ID, twice), BAD_ARGUMENT);
});
