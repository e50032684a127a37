import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientId } from '../../protocol/ids.js';
import { RecentIds } from './recent-ids.js';

function bytesOf(first: number, last: number): Uint8Array {
  const bytes = new Uint8Array(16);
  bytes[0] = first;
  bytes[15] = last;
  return bytes;
}

test('the same bytes give the same id, also after they changed', () => {
  const ids = new RecentIds(ClientId.of);
  const bytes = bytesOf(1, 2);
  const id = ids.of(bytes);
  assert.equal(ids.of(bytesOf(1, 2)), id);
  bytes[0] = 9;
  assert.notEqual(ids.of(bytes), id);
  assert.deepEqual([...id.bytes], [...bytesOf(1, 2)]);
});

test('ids that share a place are told apart', () => {
  const ids = new RecentIds(ClientId.of);
  for (const first of [1, 2, 1]) assert.deepEqual(ids.of(bytesOf(first, 7)).bytes[0], first);
  assert.equal(ids.of(bytesOf(3, 7 + 64)).bytes[15], 71);
});
