import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { crc32c, crc32cByTable } from './crc32c.js';
import { escapeValue, parseProperties } from './java-properties.js';
import {
  parseSegmentName,
  readChecksum,
  readLengthPrefix,
  recordFrame,
  recordSize,
  writeRecord,
  writeVarint,
} from './segment-format.js';

test('the checksum is CRC-32C, by table and natively, in one or more parts', () => {
  const digits = new TextEncoder().encode('123456789');
  assert.equal(crc32c(digits), 0xe3069283);
  const large = Uint8Array.from({ length: 5000 }, (_, i) => (i * 31) & 0xff);
  assert.equal(crc32c(large), crc32cByTable(large, 0, large.length));
  assert.equal(crc32c(large, 100, 5000, crc32c(large, 0, 100)), crc32c(large));
  assert.equal(crc32c(large, 4900, 5000, crc32c(large, 0, 4900)), crc32c(large));
});

test('length prefixes come back, up to 31 bits', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0x7fff_ffff }), (value) => {
      const bytes = new Uint8Array(8);
      const sizeBytes = writeVarint(bytes, 0, value);
      assert.deepEqual(readLengthPrefix(bytes, 0), { kind: 'ok', value, sizeBytes });
      if (sizeBytes > 1) {
        assert.equal(readLengthPrefix(bytes.subarray(0, sizeBytes - 1), 0).kind, 'cut');
      }
    }),
  );
  assert.equal(readLengthPrefix(new Uint8Array(11).fill(0xff), 0).kind, 'malformed');
});

test('a record is the same whether it is copied or framed in place', () => {
  for (const size of [1, 127, 128, 300, 20_000]) {
    const proto = Uint8Array.from({ length: size }, (_, i) => i & 0xff);
    const copied = new Uint8Array(recordSize(size));
    assert.equal(writeRecord(copied, 0, proto), copied.length);
    const { head, tail } = recordFrame(proto);
    assert.deepEqual(new Uint8Array(Buffer.concat([head, proto, tail])), copied);
    assert.equal(readChecksum(copied, copied.length - 4), readChecksum(tail, 0));
  }
});

test('segment names are those of storage 4.1, others are ignored', () => {
  const name = (text: string) => parseSegmentName(text);
  assert.deepEqual(name('log_0-2'), { name: 'log_0-2', startIndex: 0, endIndex: 2 });
  assert.equal(name('log_inprogress_17')?.startIndex, 17);
  assert.equal(name('log_inprogress_17')?.endIndex, undefined);
  for (const other of ['log_', 'log_1', 'log_1-', 'xlog_1-2', 'log_1-2.tmp', 'raft-meta']) {
    assert.equal(name(other), undefined, other);
  }
});

test('values of a .properties file come back as they were', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (value) => {
      const text = `#\n#a comment\nvotedFor=${escapeValue(value)}\nterm=1\n`;
      assert.equal(parseProperties(text).get('votedFor'), value);
    }),
  );
});

test('.properties syntax is read as Java reads it', () => {
  const text = 'a = 1\r\n! c\n#d\\\nb:2 \n  c\\ d\te\\\n   f\ng\n a\\=b==c\\u0041\\q\nb=3';
  assert.deepEqual(
    [...parseProperties(text)],
    [
      ['a', '1'],
      ['b', '3'],
      ['c d', 'ef'],
      ['g', ''],
      ['a=b', '=cAq'],
    ],
  );
  assert.throws(() => parseProperties('a=\\u12'), SyntaxError);
});
