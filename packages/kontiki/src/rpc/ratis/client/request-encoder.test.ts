import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadVectors, toHex } from '../../../proto/vectors.test-support.js';
import { ClientId, RaftGroupId } from '../../../protocol/ids.js';
import { DUMMY_CONTENT, type RequestType } from '../../../protocol/requests.js';
import { type RequestBody, RequestEncoder } from './request-encoder.js';

const encoder = new RequestEncoder({
  clientId: ClientId.parse('01234567-89ab-cdef-0123-456789abcdef'),
  groupId: RaftGroupId.parse('02511d47-d67c-49a3-9011-abb3109a44c1'),
});

const utf8 = new TextEncoder();

function vector(name: string): string {
  const found = loadVectors('RaftClientRequestProto').find((candidate) => candidate.name === name);
  assert.ok(found !== undefined, `no vector ${name}`);
  return toHex(found.bytes);
}

function body(callId: number, type: RequestType, fields: Partial<RequestBody> = {}): RequestBody {
  return { callId, type, toLeader: true, repliedCallIds: [], content: undefined, ...fields };
}

const READ = {
  kind: 'read',
  preferNonLinearizable: false,
  readAfterWriteConsistent: false,
  dummy: false,
} as const;
const GET = utf8.encode('get');

/** Vector, request, server, number, mark. */
const CASES: readonly [string, RequestBody, string, number | undefined, boolean][] = [
  [
    'client-write-first',
    body(2, { kind: 'write', replication: 0 }, { content: utf8.encode('hello') }),
    's1',
    1,
    true,
  ],
  [
    'client-write-all-with-replied-call-ids',
    body(
      300,
      { kind: 'write', replication: 1 },
      { content: utf8.encode('abc'), repliedCallIds: [2, 3, 299] },
    ),
    's1',
    4,
    false,
  ],
  [
    'client-dummy-watch',
    body(1, { kind: 'watch', index: 0, replication: 0 }, { content: DUMMY_CONTENT }),
    's1',
    1,
    true,
  ],
  [
    'client-read-unordered',
    body(9, READ, { content: GET, toLeader: false }),
    's2',
    undefined,
    false,
  ],
  [
    'client-read-after-write',
    body(10, { ...READ, readAfterWriteConsistent: true }, { content: GET }),
    's1',
    5,
    false,
  ],
  [
    'client-stale-read',
    body(11, { kind: 'staleRead', minIndex: 128 }, { content: GET, toLeader: false }),
    's2',
    2,
    false,
  ],
  [
    'client-watch-unordered',
    body(12, { kind: 'watch', index: 17, replication: 2 }),
    's1',
    undefined,
    false,
  ],
  [
    'client-message-stream-end',
    body(13, { kind: 'messageStream', streamId: 1, messageId: 2, endOfRequest: true }),
    's1',
    6,
    false,
  ],
];

describe('RequestEncoder', () => {
  for (const [name, request, serverId, seqNum, isFirst] of CASES) {
    it(`gives the bytes of the vector ${name}, whatever it encoded before`, () => {
      for (const [, other, ...rest] of CASES) {
        encoder.encode(other, ...rest);
        const bytes = encoder.encode(request, serverId, seqNum, isFirst);
        assert.equal(toHex(bytes), vector(name));
      }
    });
  }
});
