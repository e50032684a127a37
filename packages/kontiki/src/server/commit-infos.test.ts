import assert from 'node:assert/strict';
import { test } from 'node:test';
import { initialConfiguration } from '../protocol/configuration.js';
import { createPeer, type RaftPeer } from '../protocol/peer.js';
import { CommitInfos, type PeerCodec } from './commit-infos.js';

let decoded = 0;
const codec: PeerCodec = {
  encode: (peer) => new TextEncoder().encode(peer.id),
  decode: (bytes): RaftPeer => {
    decoded++;
    return createPeer({ id: new TextDecoder().decode(bytes) });
  },
};
const peers = ['n0', 'n1', 'n2'].map((id) => createPeer({ id }));

function create(self: string): CommitInfos {
  const infos = new CommitInfos(self, codec);
  infos.setConfiguration(initialConfiguration(peers));
  return infos;
}

test('the list starts with the server itself, and others follow once known', () => {
  const infos = create('n1');
  infos.update('n1', 4);
  infos.update('n0', 3);
  assert.deepEqual(
    infos.list.map((info) => [info.server.id, info.commitIndex]),
    [
      ['n1', 4],
      ['n0', 3],
    ],
  );
  assert.equal(infos.minimum, -1);
});

test('merging keeps the maximum, and decodes a repeated peer once', () => {
  const infos = create('n0');
  const server = codec.encode(peers[2] as RaftPeer);
  decoded = 0;
  infos.merge([{ server, commitIndex: 9 }]);
  infos.merge([{ server: server.slice(), commitIndex: 7 }]);
  infos.merge([{ server: server.slice(), commitIndex: 10 }]);
  assert.equal(infos.of('n2'), 10);
  assert.equal(decoded, 1);
});

test('a list is made anew only after a change', () => {
  const infos = create('n0');
  infos.update('n0', 1);
  const before = infos.list;
  infos.update('n0', 1);
  assert.equal(infos.list, before);
  infos.update('n0', 2);
  assert.notEqual(infos.list, before);
  assert.equal(before[0]?.commitIndex, 1);
});
