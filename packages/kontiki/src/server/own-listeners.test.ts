import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RaftProperties } from '../config/raft-properties.js';
import { createPeer } from '../protocol/peer.js';
import { listenAtOwnAddresses } from './own-listeners.js';

function listeners(fields: object, options = {}): (string | number | undefined)[] {
  const properties = RaftProperties.from(options);
  listenAtOwnAddresses(properties, createPeer({ id: 'n0', ...fields }));
  return [
    properties.get('raft.grpc.server.host'),
    properties.get('raft.grpc.server.port'),
    properties.get('raft.grpc.client.port'),
    properties.get('raft.grpc.admin.port'),
  ];
}

describe('listenAtOwnAddresses', () => {
  it('takes the ports of the own addresses, on every interface', () => {
    const peer = { address: 'a.example:1', clientAddress: 'a.example:2', adminAddress: '[::1]:3' };
    assert.deepEqual(listeners(peer), [undefined, 1, 2, 3]);
  });

  it('stays on the loopback interface when nobody looks for it elsewhere', () => {
    assert.equal(listeners({ address: '127.0.0.1:6000' })[0], '127.0.0.1');
    assert.equal(listeners({ address: '[::1]:6000' })[0], '::1');
  });

  it('leaves a configured port alone', () => {
    const given = { 'raft.grpc.server.port': 7 };
    assert.deepEqual(listeners({ address: '127.0.0.1:6000' }, given).slice(0, 2), [undefined, 7]);
  });

  it('knows nothing without an own address', () => {
    assert.equal(listeners({})[1], 0);
  });
});
