import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { create, toBinary } from '@bufbuild/protobuf';
import { NumberOutOfRangeException } from '../../protocol/exceptions.js';
import { RaftClientRequestProtoSchema } from '../gen/ratis/common/client_pb.js';
import {
  AppendEntriesReplyProtoSchema,
  AppendEntriesRequestProtoSchema,
} from '../gen/ratis/common/server_pb.js';
import { toHex } from '../vectors.test-support.js';
import {
  decodeAppendEntriesReply,
  decodeAppendEntriesRequest,
  decodeClientRequest,
  encodeClientRequest,
} from './index.js';

/** Unsigned on the wire, and as it is read (spec: wire-grpc 2.1). */
const CALL_IDS: readonly (readonly [bigint, number | bigint])[] = [
  [0n, 0],
  [127n, 127],
  [128n, 128],
  [2n ** 28n - 1n, 2 ** 28 - 1],
  [2n ** 28n, 2 ** 28],
  [2n ** 31n, 2 ** 31],
  [2n ** 32n, 2 ** 32],
  [2n ** 53n - 1n, Number.MAX_SAFE_INTEGER],
  [2n ** 53n, 2n ** 53n],
  [2n ** 53n + 1n, 2n ** 53n + 1n],
  [2n ** 63n - 1n, 2n ** 63n - 1n],
  [2n ** 63n, -(2n ** 63n)],
  [2n ** 64n - 2n ** 53n, -(2n ** 53n)],
  [2n ** 64n - 2n ** 53n + 1n, Number.MIN_SAFE_INTEGER],
  [2n ** 64n - 1n, -1],
];

const TOO_LARGE = [2n ** 53n, 2n ** 63n - 1n, 2n ** 63n, 2n ** 64n - 2n ** 53n];

describe('64-bit numbers', () => {
  for (const [wire, value] of CALL_IDS) {
    it(`keep call id ${wire}`, () => {
      const rpcRequest = { callId: wire, repliedCallIds: [wire, 1n] };
      const message = create(RaftClientRequestProtoSchema, { rpcRequest });
      const bytes = toBinary(RaftClientRequestProtoSchema, message);
      const decoded = decodeClientRequest(bytes);
      assert.equal(decoded.callId, value);
      assert.deepEqual(decoded.repliedCallIds, [value, 1]);
      assert.equal(toHex(encodeClientRequest(decoded)), toHex(bytes));
    });
  }

  it('are refused beyond 2^53 as terms and indices', () => {
    for (const large of TOO_LARGE) {
      for (const field of ['term', 'nextIndex', 'followerCommit', 'matchIndex'] as const) {
        const reply = create(AppendEntriesReplyProtoSchema, { [field]: large });
        const bytes = toBinary(AppendEntriesReplyProtoSchema, reply);
        assert.throws(() => decodeAppendEntriesReply(bytes), NumberOutOfRangeException);
      }
      for (const fields of [
        { leaderTerm: large },
        { leaderCommit: large },
        { previousLog: { term: large } },
        { previousLog: { index: large } },
        { entries: [{ term: large }] },
        { entries: [{ index: large }] },
        { commitInfos: [{ commitIndex: large }] },
      ]) {
        const request = create(AppendEntriesRequestProtoSchema, fields);
        const bytes = toBinary(AppendEntriesRequestProtoSchema, request);
        assert.throws(() => decodeAppendEntriesRequest(bytes), NumberOutOfRangeException);
      }
    }
  });

  it('are dropped beyond their 64th bit', () => {
    const bytes = Uint8Array.from([0x0a, 0x0b, 0x20, ...new Array<number>(9).fill(0xff), 0x7f]);
    assert.equal(decodeClientRequest(bytes).callId, -1);
  });
});
