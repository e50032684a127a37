import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type DescMessage, equals, fromBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { ARBITRARY, entryBytes } from '../arbitrary.test-support.js';
import { LogEntryProtoSchema } from '../gen/ratis/common/log_pb.js';
import { HOT_MESSAGES, type HotMessage, joinParts } from '../hot-messages.test-support.js';
import { chances, mangle } from '../mangle.test-support.js';
import { toHex } from '../vectors.test-support.js';
import { encodeAppendEntriesRequest, type LogEntry, parseWireEntry } from './index.js';

const RUNS = { numRuns: 400 };
const seed = fc.nat();

function arbitraryOf(hot: HotMessage): fc.Arbitrary<Uint8Array> {
  const arbitrary = ARBITRARY[hot.type];
  assert.ok(arbitrary !== undefined);
  return arbitrary;
}

const HEADER = {
  requestorId: '',
  replyId: '',
  raftGroupId: new Uint8Array(0),
  callId: 0,
  leaderTerm: 0,
  previousTerm: undefined,
  previousIndex: undefined,
  leaderCommit: 0,
  initializing: false,
  commitInfos: [],
  spanContext: undefined,
};

/** The full form of an entry, cut out of a request. */
function fullForm(entry: LogEntry): Uint8Array {
  const request = joinParts(encodeAppendEntriesRequest(HEADER, [entry]));
  return request.subarray(request.length - entry.fullSizeBytes);
}

/** What a message means, without what is unknown in it. */
function known(schema: DescMessage, bytes: Uint8Array) {
  return fromBinary(schema, bytes, { readUnknownFields: false });
}

describe('The hand codec on random messages', () => {
  for (const hot of HOT_MESSAGES) {
    it(`reads and writes ${hot.type} as the generated code does`, () => {
      fc.assert(
        fc.property(arbitraryOf(hot), (bytes) => {
          assert.deepEqual(hot.decode(bytes), hot.flatten(bytes));
          assert.equal(toHex(hot.recode(bytes)), toHex(bytes));
        }),
        RUNS,
      );
    });

    it(`reads ${hot.type} in any order, with repeated, split, unpacked and unknown fields`, () => {
      fc.assert(
        fc.property(arbitraryOf(hot), seed, (bytes, start) => {
          const mangled = mangle(hot.schema, bytes, chances(start), true);
          const recoded = hot.recode(mangled);
          const wanted = known(hot.schema, mangled);
          assert.ok(equals(hot.schema, known(hot.schema, recoded), wanted));
          // Nested messages that stay serialized keep what is unknown in them, so only this one is
          // equal field by field.
          if (hot.type === 'AppendEntriesReplyProto') {
            assert.deepEqual(hot.decode(mangled), hot.flatten(mangled));
          }
        }),
        RUNS,
      );
    });
  }
});

describe('Log entries in unusual forms', () => {
  it('become canonical', () => {
    fc.assert(
      fc.property(entryBytes, seed, (bytes, start) => {
        const mangled = mangle(LogEntryProtoSchema, bytes, chances(start), false);
        assert.equal(toHex(fullForm(parseWireEntry(mangled))), toHex(bytes));
      }),
      RUNS,
    );
  });

  it('keep what is unknown in them', () => {
    fc.assert(
      fc.property(entryBytes, seed, (bytes, start) => {
        const unknown = Uint8Array.from([...bytes, 0xa0, 0x06, 0x05, 0xaa, 0x06, 0x01, 0x09]);
        const mangled = mangle(LogEntryProtoSchema, unknown, chances(start), false);
        assert.equal(toHex(fullForm(parseWireEntry(mangled))), toHex(unknown));
      }),
      RUNS,
    );
  });

  it('have a fixed point: what was made canonical stays as it is', () => {
    fc.assert(
      fc.property(entryBytes, seed, (bytes, start) => {
        const mangled = mangle(LogEntryProtoSchema, bytes, chances(start), true);
        const once = fullForm(parseWireEntry(mangled));
        assert.equal(toHex(fullForm(parseWireEntry(once))), toHex(once));
      }),
      RUNS,
    );
  });
});
