import assert from 'node:assert/strict';
import { test } from 'node:test';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import fc from 'fast-check';
import { MalformedMessageError } from '../../proto/wire/errors.js';
import { crc32c } from '../../storage/crc32c.js';
import { FileStoreRequestProtoSchema } from './gen/filestore_pb.js';
import {
  decodeRequest,
  encodeLogHeader,
  encodeWrite,
  layOutWrite,
  withChecksum,
} from './messages.js';

const encoder = new TextEncoder();

function generatedWrite(header: {
  path: string;
  close: boolean;
  offset: number;
  length: number;
  sync: boolean;
  data: Uint8Array;
}): Uint8Array {
  const { path, close, offset, length, sync, data } = header;
  const proto = create(FileStoreRequestProtoSchema, {
    Request: {
      case: 'write',
      value: {
        header: {
          path: encoder.encode(path),
          close,
          offset: BigInt(offset),
          length: BigInt(length),
          sync,
        },
        data,
      },
    },
  });
  return toBinary(FileStoreRequestProtoSchema, proto);
}

const WRITES = fc.record({
  path: fc.string({ minLength: 1, unit: 'grapheme' }),
  close: fc.boolean(),
  offset: fc.maxSafeNat(),
  data: fc.uint8Array({ maxLength: 300 }),
  sync: fc.boolean(),
});

test('writes requests as the generated code does, and reads them back', () => {
  fc.assert(
    fc.property(WRITES, ({ path, close, offset, data, sync }) => {
      const bytes = encodeWrite(path, offset, data, { close, sync });
      const length = data.length;
      const expected = generatedWrite({ path, close, offset, length, sync, data });
      assert.deepEqual(Buffer.from(bytes), Buffer.from(expected));
      const request = decodeRequest(bytes);
      assert.ok(request.kind === 'write');
      const header = { path, close, offset, length, sync, checksum: undefined };
      assert.deepEqual(request.header, header);
      assert.deepEqual(Buffer.from(request.data), Buffer.from(data));
    }),
  );
});

test('gives the data of a write as a view, without a copy', () => {
  const bytes = encodeWrite('a', 0, Uint8Array.of(1, 2, 3));
  const request = decodeRequest(bytes);
  assert.ok(request.kind === 'write');
  assert.equal(request.data.buffer, bytes.buffer);
});

test('leaves the place of the data for the caller to fill', () => {
  const { message, data } = layOutWrite('a', { offset: 7, length: 3 });
  data.set([9, 8, 7]);
  assert.deepEqual(message, encodeWrite('a', 7, Uint8Array.of(9, 8, 7)));
});

test('logs the header alone, as Java does', () => {
  const header = {
    path: 'a/b',
    close: true,
    offset: 300,
    length: 5,
    sync: true,
    checksum: undefined,
  };
  const bytes = encodeLogHeader(header);
  assert.equal(Buffer.from(bytes).toString('hex'), '0a0e0a03612f62100118ac0220052801');
  assert.deepEqual(decodeRequest(bytes), { kind: 'writeHeader', header });
});

test('keeps the checksum of the data in the log, in a field that others pass over', () => {
  const data = encoder.encode('123456789');
  const plain = { path: 'a', close: false, offset: 0, length: 9, sync: false, checksum: undefined };
  const header = withChecksum(plain, data);
  assert.equal(header.checksum, 0xe3069283);
  const bytes = encodeLogHeader(header);
  assert.deepEqual(decodeRequest(bytes), { kind: 'writeHeader', header });
  const generated = fromBinary(FileStoreRequestProtoSchema, bytes);
  assert.ok(generated.Request.case === 'writeHeader');
  assert.equal(generated.Request.value.checksum, crc32c(data));
});

test('reads the other requests, and says so when there is none', () => {
  const path = encoder.encode('x');
  const toBytes = (Request: Parameters<typeof create<typeof FileStoreRequestProtoSchema>>[1]) =>
    toBinary(FileStoreRequestProtoSchema, create(FileStoreRequestProtoSchema, Request));
  assert.deepEqual(decodeRequest(toBytes({ Request: { case: 'delete', value: { path } } })), {
    kind: 'delete',
    path: 'x',
  });
  const stream = { case: 'stream', value: { path, length: 12n } } as const;
  assert.deepEqual(decodeRequest(toBytes({ Request: stream })), {
    kind: 'stream',
    path: 'x',
    length: 12,
  });
  assert.deepEqual(decodeRequest(new Uint8Array(0)), { kind: 'none' });
});

test('refuses truncated requests with a typed error, wherever they are cut', () => {
  const whole = encodeWrite('some/path', 1234567, new Uint8Array(20), { close: true });
  for (let length = 1; length < whole.length; length++) {
    assert.throws(() => decodeRequest(whole.subarray(0, length)), MalformedMessageError);
  }
});
