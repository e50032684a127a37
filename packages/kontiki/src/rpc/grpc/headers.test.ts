import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { InvalidArgumentError } from '../../common/errors.js';
import { StatusCode } from '../transport.js';
import {
  addMetadata,
  decodeBinary,
  encodeBinary,
  headerListBytes,
  readMetadata,
} from './metadata.js';
import { decodeMessage, encodeMessage, truncateMessage } from './percent.js';
import { decodeTrailers, encodeTrailers, statusOfHttp, statusOfReset } from './status.js';
import { parseTarget } from './target.js';
import { formatTimeout, parseTimeout } from './timeout.js';
import { certificateNames } from './tls.js';

describe('grpc-timeout', () => {
  it('is sent in microseconds while eight digits hold them, then in coarser units', () => {
    assert.equal(formatTimeout(2_999.865), '2999865u');
    assert.equal(formatTimeout(0), '1u');
    assert.equal(formatTimeout(99_999.999), '99999999u');
    assert.equal(formatTimeout(100_000), '100000m');
    assert.equal(formatTimeout(200_000_000), '200000S');
    assert.equal(formatTimeout(200_000_000_000), '3333334M');
    assert.equal(formatTimeout(Number.MAX_VALUE), '99999999H');
  });

  it('is read in every unit', () => {
    const read = ['2H', '3M', '4S', '5m', '6u', '7n'].map(parseTimeout);
    assert.deepEqual(read, [7_200_000, 180_000, 4_000, 5, 0.006, 0.000_007]);
  });

  it('is refused when it is malformed', () => {
    for (const text of ['', '5', 'm', '-5m', '1.5S', '123456789m', '5x', ' 5m', '5m ']) {
      assert.throws(() => parseTimeout(text), InvalidArgumentError, text);
    }
  });
});

describe('grpc-message', () => {
  it('comes back as it was', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 50 }), (text) => {
        const encoded = encodeMessage(text);
        assert.match(encoded, /^[\x20-\x7e]*$/);
        assert.equal(decodeMessage(encoded), text);
      }),
    );
  });

  it('is coded as Java does it', () => {
    assert.equal(encodeMessage('a\nb%é'), 'a%0Ab%25%C3%A9');
  });

  it('keeps malformed escapes and survives malformed UTF-8', () => {
    assert.equal(decodeMessage('100% %zz %4'), '100% %zz %4');
    assert.equal(decodeMessage('%ff'), '\ufffd');
  });

  it('is cut between characters', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 30 }),
        fc.integer({ min: 0, max: 60 }),
        (text, length) => {
          const cut = truncateMessage(encodeMessage(text), length);
          assert.ok(cut.length <= length);
          assert.ok(text.startsWith(decodeMessage(cut)), JSON.stringify([text, cut]));
        },
      ),
    );
  });
});

describe('metadata', () => {
  it('holds bytes as base64 without padding, and reads padded and joined values', () => {
    const bytes = Uint8Array.of(0xac, 0xed, 0, 5);
    assert.equal(encodeBinary(bytes), 'rO0ABQ');
    for (const text of ['rO0ABQ', 'rO0ABQ==', 'AAAA,rO0ABQ', 'AA==, rO0ABQ==']) {
      assert.deepEqual(decodeBinary(text), bytes, text);
    }
  });

  it('comes back through headers, without what belongs to the protocol', () => {
    const headers: Record<string, string> = { ':path': '/', te: 'trailers', 'grpc-timeout': '1S' };
    addMetadata(headers, { 'call-id': '7', 'x-bin': Uint8Array.of(1) });
    const read = readMetadata({ ...headers, 'user-agent': 'x', 'content-type': 'y' });
    assert.deepEqual(read, { 'call-id': '7', 'x-bin': Uint8Array.of(1) });
  });

  it('that cannot be sent is refused', () => {
    for (const bad of [
      { Upper: 'x' },
      { '': 'x' },
      { ':path': 'x' },
      { 'grpc-status': '0' },
      { te: 'x' },
      { a: 'line\nfeed' },
      { a: 'ü' },
      { a: Uint8Array.of(1) },
      { 'a-bin': 'text' },
    ]) {
      assert.throws(() => addMetadata({}, bad as Record<string, string>), InvalidArgumentError);
    }
  });
});

describe('status', () => {
  it('survives the trailers', () => {
    const status = { code: StatusCode.INTERNAL, message: 'ä\n', metadata: { 'call-id': '7' } };
    const trailers = encodeTrailers(status);
    assert.deepEqual(Object.keys(trailers), ['grpc-status', 'grpc-message', 'call-id']);
    assert.deepEqual(decodeTrailers(trailers), status);
    assert.deepEqual(encodeTrailers({ ...status, message: '', metadata: {} }), {
      'grpc-status': '13',
    });
  });

  it('stays below 8192 bytes of trailers (spec: wire-grpc 4.3)', () => {
    const long = encodeTrailers({
      code: StatusCode.INTERNAL,
      message: 'é'.repeat(20_000),
      metadata: { 'exception-type': 'java.io.IOException' },
    });
    const front = { ':status': '200', 'content-type': 'application/grpc' };
    const size = headerListBytes({ ...front, ...long });
    assert.ok(size < 8_192 && size > 7_500, `${size}`);
    assert.equal(long['exception-type'], 'java.io.IOException');
    assert.match(decodeTrailers(long)?.message ?? '', /^é+$/);
    const many = encodeTrailers({
      code: StatusCode.INTERNAL,
      message: 'short',
      metadata: { 'a-bin': new Uint8Array(9_000), b: 'kept' },
    });
    assert.deepEqual(many, { 'grpc-status': '13', 'grpc-message': 'short', b: 'kept' });
  });

  it('with metadata that cannot be sent becomes INTERNAL, not silence', () => {
    const trailers = encodeTrailers({
      code: StatusCode.ABORTED,
      message: 'why',
      metadata: { Bad: 'x' },
    });
    assert.equal(trailers['grpc-status'], '13');
    assert.match(decodeTrailers(trailers)?.message ?? '', /"Bad".*why/);
  });

  it('of unknown codes is UNKNOWN, and absent when there is none', () => {
    for (const text of ['17', '99', 'x', '-1', '']) {
      assert.equal(decodeTrailers({ 'grpc-status': text })?.code, StatusCode.UNKNOWN, text);
    }
    assert.equal(decodeTrailers({}), undefined);
  });

  it('is made from HTTP statuses and reset codes', () => {
    assert.equal(statusOfHttp(404, 'text/html').code, StatusCode.UNIMPLEMENTED);
    assert.equal(statusOfHttp(503, undefined).code, StatusCode.UNAVAILABLE);
    assert.equal(statusOfHttp(200, 'text/html').code, StatusCode.UNKNOWN);
    assert.match(statusOfHttp(200, 'text/html').message, /does not speak gRPC.*text\/html/);
    assert.equal(statusOfReset(8).code, StatusCode.CANCELLED);
    assert.equal(statusOfReset(7).code, StatusCode.UNAVAILABLE);
    assert.equal(statusOfReset(11).code, StatusCode.RESOURCE_EXHAUSTED);
    assert.equal(statusOfReset(2).code, StatusCode.INTERNAL);
    assert.match(statusOfReset(99).message, /code 99/);
  });
});

describe('addresses and names', () => {
  it('are split into host and port', () => {
    assert.deepEqual(parseTarget('n0.example:6000'), { host: 'n0.example', port: 6_000 });
    assert.deepEqual(parseTarget('[fe80::1%eth0]:1'), { host: 'fe80::1%eth0', port: 1 });
  });

  it('of certificates are read, also quoted ones', () => {
    const names = certificateNames({
      subject: { CN: 'n0' },
      subjectaltname: 'DNS:n0, DNS:a.b, IP Address:127.0.0.1, URI:"x, DNS:evil", DNS:c',
    } as never);
    assert.deepEqual(names, ['n0', 'a.b', '127.0.0.1', 'x, DNS:evil', 'c']);
    assert.deepEqual(certificateNames(undefined), []);
  });
});
