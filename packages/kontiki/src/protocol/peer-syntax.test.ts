import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPeer } from './peer.js';
import { parsePeer, parsePeers } from './peer-syntax.js';

test('reads name, host and port', () => {
  assert.deepEqual(parsePeer('n0:host:9000'), createPeer({ id: 'n0', address: 'host:9000' }));
});

test('combines further ports with the host', () => {
  assert.deepEqual(
    parsePeer('n0:10.0.0.1:1:2:3:4'),
    createPeer({
      id: 'n0',
      address: '10.0.0.1:1',
      dataStreamAddress: '10.0.0.1:2',
      clientAddress: '10.0.0.1:3',
      adminAddress: '10.0.0.1:4',
    }),
  );
});

test('keeps the brackets of an IPv6 address', () => {
  const peer = parsePeer('n0:[::1]:9000:9001');
  assert.equal(peer.address, '[::1]:9000');
  assert.equal(peer.dataStreamAddress, '[::1]:9001');
});

test('ignores ports beyond the fourth', () => {
  assert.deepEqual(parsePeer('n0:h:1:2:3:4:5'), parsePeer('n0:h:1:2:3:4'));
});

for (const text of [
  '',
  'n0',
  'n0:',
  'n0:host',
  'n0:host:',
  ':host:1',
  'n0::1',
  'n0:host:1:',
  'n0:host:1::3',
  'n0:host:1:2:3:4:',
  'n0:host:http',
  'n0:host:65536',
  'n0:::1:9000',
  'n0:[::1:9000',
  'n0:[::1]',
  'n0:ho st:1',
]) {
  test(`refuses "${text}" as a peer`, () => {
    assert.throws(() => parsePeer(text), {
      code: 'KONTIKI_INVALID_ARGUMENT',
      message:
        `Raft peer ${text} is not a legitimate format. ` +
        '(format: name:host:port:dataStreamPort:clientPort:adminPort)',
    });
  });
}

test('reads a list of peers', () => {
  assert.deepEqual(
    parsePeers('n0:h:1, n1:[::1]:2').map(({ id, address }) => [id, address]),
    [
      ['n0', 'h:1'],
      ['n1', '[::1]:2'],
    ],
  );
});
