import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ClientId, RaftGroupId } from '../../../protocol/ids.js';
import { RequestEncoder } from './request-encoder.js';

const encoder = new RequestEncoder({
  clientId: ClientId.parse('01234567-89ab-cdef-0123-456789abcdef'),
  groupId: RaftGroupId.parse('02511d47-d67c-49a3-9011-abb3109a44c1'),
});

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

describe('RequestEncoder', () => {
  it('gives the bytes of the vector client-write-first', () => {
    const bytes = encoder.encode(
      {
        callId: 2,
        toLeader: true,
        repliedCallIds: [],
        content: new TextEncoder().encode('hello'),
        type: { kind: 'write', replication: 0 },
      },
      's1',
      1,
      true,
    );
    assert.equal(
      hex(bytes),
      '0a340a100123456789abcdef0123456789abcdef120273311a120a1002511d47d67c49a39011abb3109a44c1' +
        '200228017a040801100112070a0568656c6c6f1a00',
    );
  });

  it('forgets the fields of the request before', () => {
    const read = {
      callId: 3,
      toLeader: false,
      repliedCallIds: [],
      content: undefined,
      type: { kind: 'staleRead', minIndex: 9 },
    } as const;
    const before = hex(encoder.encode(read, 's1', undefined, false));
    encoder.encode(
      {
        callId: 4,
        toLeader: true,
        repliedCallIds: [1, 2],
        content: new Uint8Array(3),
        type: { kind: 'watch', index: 4, replication: 1 },
      },
      's2',
      7,
      true,
    );
    assert.equal(hex(encoder.encode(read, 's1', undefined, false)), before);
  });
});
