import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { NumberOutOfRangeException } from '../../protocol/exceptions.js';
import { ARBITRARY } from '../arbitrary.test-support.js';
import { HOT_MESSAGES } from '../hot-messages.test-support.js';
import { fromHex, loadVectors } from '../vectors.test-support.js';
import {
  decodeAppendEntriesRequest,
  decodeClientReply,
  decodeClientRequest,
  decodePeer,
  MalformedMessageError,
  parseStoredEntry,
  parseWireEntry,
} from './index.js';

/** Decodes, or fails with one of the errors that decoders may raise. */
function decodesOrRefuses(decode: (bytes: Uint8Array) => unknown, bytes: Uint8Array): void {
  try {
    decode(bytes);
  } catch (error) {
    const typed =
      error instanceof MalformedMessageError || error instanceof NumberOutOfRangeException;
    if (!typed) throw error;
  }
}

const group = (depth: number) =>
  Uint8Array.from([
    ...new Array<number>(depth).fill(0xf3).flatMap((tag) => [tag, 0x01]),
    ...new Array<number>(depth).fill(0xf4).flatMap((tag) => [tag, 0x01]),
  ]);

describe('Damaged and hostile messages', () => {
  for (const hot of HOT_MESSAGES) {
    it(`cut anywhere raise typed errors only: ${hot.type}`, () => {
      const vectors = loadVectors(hot.type).slice(0, 40);
      for (const { bytes } of vectors) {
        for (let i = 0; i < Math.min(bytes.length, 400); i++) {
          decodesOrRefuses(hot.recode, bytes.slice(0, i));
        }
      }
      const { bytes } = vectors[0] as (typeof vectors)[0];
      assert.throws(() => hot.decode(bytes.slice(0, 12)), MalformedMessageError);
    });

    it(`changed at random raise typed errors only: ${hot.type}`, () => {
      const change = fc.tuple(fc.nat(), fc.nat({ max: 255 }));
      fc.assert(
        fc.property(
          ARBITRARY[hot.type] as fc.Arbitrary<Uint8Array>,
          fc.array(change, { minLength: 1, maxLength: 4 }),
          (bytes, changes) => {
            for (const [place, value] of changes) {
              if (bytes.length > 0) bytes[place % bytes.length] = value;
            }
            decodesOrRefuses(hot.recode, bytes);
          },
        ),
        { numRuns: 1000 },
      );
    });

    it(`that are noise raise typed errors only: ${hot.type}`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
          decodesOrRefuses(hot.decode, bytes);
          decodesOrRefuses(parseWireEntry, bytes);
          decodesOrRefuses(parseStoredEntry, bytes);
          decodesOrRefuses(decodePeer, bytes);
        }),
        { numRuns: 1000 },
      );
    });
  }

  for (const [what, hex] of Object.entries({
    'a length of 2 GiB': '12ffffffff07',
    'a length of 2^63': '1280808080808080808001',
    'a negative length': '12ffffffffffffffffff01',
    'a nested length past its message': '0a030a7f00',
    'a number of 11 bytes': '98ffffffffffffffffffff01',
    'field number 0': '0200',
    'wire type 6': '9e0600',
    'a group end without start': '9c06',
    'a group that does not end': '9b06',
    'a group that another one ends': '9b06a406',
  })) {
    it(`are refused: ${what}`, () => {
      assert.throws(() => decodeClientRequest(fromHex(hex)), MalformedMessageError);
      assert.throws(() => decodeAppendEntriesRequest(fromHex(`22${hex}`)), MalformedMessageError);
    });
  }

  it('may hold unknown groups, but not nested beyond a limit', () => {
    assert.equal(decodeClientRequest(group(100)).callId, 0);
    assert.throws(() => decodeClientRequest(group(101)), MalformedMessageError);
    const entry = parseStoredEntry(group(100));
    assert.deepEqual(entry.stored, group(100));
    assert.throws(() => parseStoredEntry(group(101)), MalformedMessageError);
  });

  it('are refused when text is not UTF-8', () => {
    const replyId = fromHex('0a0412' + '02c328');
    assert.throws(() => decodeClientRequest(replyId), MalformedMessageError);
    assert.throws(() => decodePeer(fromHex('0a01611202c328')), MalformedMessageError);
    assert.throws(() => parseStoredEntry(fromHex('22080a060a01611201ff')), MalformedMessageError);
  });

  it('keep a byte order mark in a peer id', () => {
    const request = decodeClientRequest(fromHex('0a061204efbbbf61'));
    assert.equal(request.replyId, '\uFEFFa');
  });

  it('cannot make the merging of repeated fields slow', { timeout: 20_000 }, () => {
    const piece = fromHex('0a045a020a00');
    const bytes = new Uint8Array(piece.length * 300_000);
    for (let i = 0; i < 300_000; i++) bytes.set(piece, i * piece.length);
    assert.equal(decodeClientRequest(bytes).spanContext?.length, 600_000);
    const exception = fromHex('4a020800');
    const reply = new Uint8Array(exception.length * 300_000);
    for (let i = 0; i < 300_000; i++) reply.set(exception, i * exception.length);
    assert.equal(decodeClientReply(reply).exception?.length, 600_000);
  });

  it('cannot fill the memory with empty commit infos', () => {
    const bytes = new Uint8Array(40_000).map((_, i) => (i % 2 === 0 ? 0x7a : 0));
    assert.throws(() => decodeClientReply(bytes), MalformedMessageError);
  });

  it('refuse peers that no server may have', () => {
    assert.throws(() => decodePeer(new Uint8Array(0)), MalformedMessageError);
    assert.throws(() => decodePeer(fromHex('0a01613800')), MalformedMessageError);
    assert.throws(() => decodePeer(fromHex('0a016118ffffffff0f')), MalformedMessageError);
  });
});
