import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ClientId, memberIdText, RaftGroupId } from './ids.js';

const UUID = '02511d47-d67c-49a3-9011-abb3109a44c1';
const BAD_ARGUMENT = { code: 'KONTIKI_INVALID_ARGUMENT' };

test('reads a UUID in any case, with or without dashes', () => {
  for (const text of [UUID, UUID.toUpperCase(), UUID.replaceAll('-', '')]) {
    assert.equal(RaftGroupId.parse(text).uuid, UUID);
    assert.equal(ClientId.parse(text).uuid, UUID);
  }
});

test('takes text of 16 UTF-8 bytes as the bytes of a group id (spec: examples 1)', () => {
  const id = RaftGroupId.parse('demoRaftGroup123');
  assert.equal(new TextDecoder().decode(id.bytes), 'demoRaftGroup123');
  assert.equal(RaftGroupId.parse('ééééSixteen!').bytes.length, 16);
});

for (const text of ['', 'short', 'demoRaftGroup1234', UUID.slice(1), `${UUID}0`]) {
  test(`refuses "${text}" as a group id`, () => {
    assert.throws(() => RaftGroupId.parse(text), BAD_ARGUMENT);
  });
}

test('refuses ids of other than 16 bytes', () => {
  assert.throws(() => RaftGroupId.of(new Uint8Array(15)), BAD_ARGUMENT);
  assert.throws(() => ClientId.of(new Uint8Array(17)), BAD_ARGUMENT);
});

test('does not follow changes of the bytes it was made from', () => {
  const bytes = new Uint8Array(16);
  const id = RaftGroupId.of(bytes);
  bytes[0] = 1;
  assert.ok(id.isZero);
  assert.equal(id.uuid, '00000000-0000-0000-0000-000000000000');
});

test('compares by bytes and prints the last 12 digits (spec: client 1)', () => {
  const id = RaftGroupId.parse(UUID);
  assert.ok(id.equals(RaftGroupId.of(id.bytes)));
  assert.ok(!id.equals(RaftGroupId.of(new Uint8Array(16))));
  assert.equal(`${id}`, 'group-ABB3109A44C1');
  assert.equal(`${ClientId.parse(UUID)}`, 'client-ABB3109A44C1');
  assert.equal(memberIdText('n0', id), 'n0@group-ABB3109A44C1');
});
