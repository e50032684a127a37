import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { StatusCode } from '../transport.js';
import { FrameDecoder } from './frame-decoder.js';
import { encodeFrames, FRAME_HEAD_BYTES, messageBytes } from './frame-encoder.js';

function frames(...messages: readonly (Uint8Array | readonly Uint8Array[])[]): Buffer {
  const total = messages.reduce((sum, next) => sum + messageBytes(next) + FRAME_HEAD_BYTES, 0);
  return encodeFrames(messages, total);
}

function drain(decoder: FrameDecoder): Uint8Array[] {
  const messages: Uint8Array[] = [];
  for (let next = decoder.next(); next !== undefined; next = decoder.next()) messages.push(next);
  return messages;
}

describe('frame encoder', () => {
  it('writes flag, length and the parts in order', () => {
    const bytes = frames(Uint8Array.of(1, 2), [
      Uint8Array.of(3),
      new Uint8Array(0),
      Uint8Array.of(4),
    ]);
    assert.deepEqual([...bytes], [0, 0, 0, 0, 2, 1, 2, 0, 0, 0, 0, 2, 3, 4]);
  });

  it('writes lengths above 16 bits', () => {
    assert.deepEqual([...frames(new Uint8Array(0x01_02_03)).subarray(0, 5)], [0, 0, 1, 2, 3]);
  });
});

describe('frame decoder', () => {
  it('gives the same messages however the bytes are cut', () => {
    fc.assert(
      fc.property(
        fc.array(fc.uint8Array({ maxLength: 3_000 }), { maxLength: 8 }),
        fc.array(fc.integer({ min: 1, max: 2_000 }), { minLength: 1, maxLength: 20 }),
        (messages, cuts) => {
          const bytes = frames(...messages);
          const decoder = new FrameDecoder(3_000);
          const received: Uint8Array[] = [];
          for (let offset = 0, turn = 0; offset < bytes.length; turn++) {
            const size = cuts[turn % cuts.length] ?? 1;
            decoder.push(bytes.subarray(offset, offset + size));
            offset += size;
            received.push(...drain(decoder));
          }
          assert.deepEqual(
            received.map((message) => [...message]),
            messages.map((message) => [...message]),
          );
          assert.equal(decoder.isPartial, false);
        },
      ),
    );
  });

  it('gives bytes that do not depend on the received chunk', () => {
    const chunk = frames(Uint8Array.of(1, 2, 3), new Uint8Array(5_000).fill(9));
    const decoder = new FrameDecoder(10_000);
    decoder.push(chunk);
    const [small, large] = drain(decoder);
    chunk.fill(0);
    assert.deepEqual([...(small ?? [])], [1, 2, 3]);
    assert.ok(large?.every((byte) => byte === 9));
  });

  it('joins a large message into a buffer of exactly its length', () => {
    const decoder = new FrameDecoder(1_000_000);
    const bytes = frames(new Uint8Array(500_000).fill(5));
    for (let i = 0; i < bytes.length; i += 16_384) decoder.push(bytes.subarray(i, i + 16_384));
    const message = decoder.next();
    assert.equal(message?.length, 500_000);
    assert.equal(message?.buffer.byteLength, 500_000);
  });

  it('refuses a length above the limit as soon as the head is there', () => {
    const decoder = new FrameDecoder(10);
    decoder.push(Uint8Array.of(0, 0xff, 0xff, 0xff));
    assert.equal(decoder.next(), undefined);
    assert.ok(!('code' in (decoder.failure ?? {})), 'the head is not whole yet');
    const before = process.memoryUsage().arrayBuffers;
    decoder.push(Uint8Array.of(0xff, 1));
    assert.equal(decoder.next(), undefined);
    assert.equal(decoder.failure?.code, StatusCode.RESOURCE_EXHAUSTED);
    assert.match(decoder.failure?.message ?? '', /4294967295 bytes .* limit of 10/);
    assert.ok(process.memoryUsage().arrayBuffers - before < 1_000_000);
    decoder.push(frames(Uint8Array.of(1)));
    assert.equal(decoder.next(), undefined, 'nothing comes after a failure');
  });

  it('takes a message of exactly the limit', () => {
    const decoder = new FrameDecoder(10);
    decoder.push(frames(new Uint8Array(10)));
    assert.equal(decoder.next()?.length, 10);
  });

  it('refuses compressed messages and unknown flags, after the good messages before them', () => {
    for (const [flag, code] of [
      [1, StatusCode.UNIMPLEMENTED],
      [2, StatusCode.INTERNAL],
      [255, StatusCode.INTERNAL],
    ] as const) {
      const decoder = new FrameDecoder(10);
      decoder.push(Buffer.concat([frames(Uint8Array.of(7)), Uint8Array.of(flag, 0, 0, 0, 1, 0)]));
      assert.deepEqual([...(decoder.next() ?? [])], [7]);
      assert.equal(decoder.next(), undefined);
      assert.equal(decoder.failure?.code, code);
    }
  });

  it('knows when the bytes end inside a message', () => {
    const bytes = frames(Uint8Array.of(1, 2, 3));
    for (let cut = 1; cut < bytes.length; cut++) {
      const decoder = new FrameDecoder(10);
      decoder.push(bytes.subarray(0, cut));
      assert.equal(decoder.next(), undefined);
      assert.equal(decoder.isPartial, true, `${cut} bytes`);
    }
    assert.equal(new FrameDecoder(10).isPartial, false);
  });
});
