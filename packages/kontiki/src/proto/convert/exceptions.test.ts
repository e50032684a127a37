import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InvalidArgumentError } from '../../common/errors.js';
import * as exceptions from '../../protocol/exceptions.js';
import { createPeer } from '../../protocol/peer.js';
import { fromHex, toHex } from '../vectors.test-support.js';
import { MalformedMessageError } from '../wire/index.js';
import {
  EMPTY_STACK_TRACE,
  exceptionOfTrailers,
  failedCallOfTrailers,
  replyExceptionFromWire,
  replyExceptionToWire,
  trailersOfException,
} from './index.js';

const PACKAGE = 'org.apache.ratis.protocol.exceptions';
const GROUP = new Uint8Array(16).fill(7);
const LEADER = createPeer({ id: 's2', address: 'h:1' });

const IN_REPLIES: readonly exceptions.RaftException[] = [
  new exceptions.NotLeaderException('s1@g', LEADER, [LEADER, createPeer({ id: 's1' })]),
  new exceptions.NotLeaderException('s1@g', undefined, []),
  new exceptions.NotReplicatedException(2n ** 62n, 1, 17),
  new exceptions.StateMachineException('s1@g', 'java.lang.Exception', 'no such account'),
  new exceptions.AlreadyClosedException('closing'),
  new exceptions.DataStreamException('a'),
  new exceptions.LeaderSteppingDownException('s1@g is stepping down'),
  new exceptions.TransferLeadershipException('b'),
  new exceptions.ReadException('c'),
  new exceptions.ReadIndexException('d'),
];

describe('Exceptions in replies', () => {
  for (const exception of IN_REPLIES) {
    it(`carry a ${exception.name} (spec: wire-grpc 6.2)`, () => {
      const wire = replyExceptionToWire(exception);
      assert.ok(wire.exception !== undefined);
      const back = replyExceptionFromWire(wire.exceptionCase, wire.exception, 's1@g');
      assert.equal(back?.constructor, exception.constructor);
      assert.equal(back?.message, exception.message);
      assert.deepEqual({ ...back }, { ...exception });
    });
  }

  it('carry a LeaderNotReadyException with peer and group', () => {
    const exception = new exceptions.LeaderNotReadyException('x', 's1', GROUP);
    const wire = replyExceptionToWire(exception);
    const back = replyExceptionFromWire(wire.exceptionCase, wire.exception ?? GROUP);
    assert.ok(back instanceof exceptions.LeaderNotReadyException);
    assert.equal(back.message, 's1@group-070707070707 is in LEADER state but not ready yet.');
    assert.deepEqual(back.groupIdBytes, GROUP);
  });

  it('have a Java stack trace where Java needs one', () => {
    assert.equal(EMPTY_STACK_TRACE.length, 55);
    const wire = replyExceptionToWire(new exceptions.StateMachineException('s', 'c', 'm'));
    assert.ok(toHex(wire.exception ?? GROUP).endsWith(`1a37${toHex(EMPTY_STACK_TRACE)}`));
  });

  it('give a cause when its class is known', () => {
    const stale = `${PACKAGE}.StaleReadException`;
    const sent = new exceptions.StateMachineException('s1@g', stale, 'too old');
    const wire = replyExceptionToWire(sent);
    const back = replyExceptionFromWire(wire.exceptionCase, wire.exception ?? GROUP);
    assert.ok(back?.cause instanceof exceptions.StaleReadException);
    assert.equal(back.cause.message, 'too old');
  });

  it('read as none when the case is unknown (spec: wire-grpc 11, quirk 19)', () => {
    assert.equal(replyExceptionFromWire(13, GROUP), undefined);
  });

  it('are refused when the class does not fit the case', () => {
    const wire = replyExceptionToWire(new exceptions.ReadException('c'));
    assert.throws(() => replyExceptionFromWire(12, wire.exception ?? GROUP), MalformedMessageError);
  });

  it('are refused when they cannot be read', () => {
    assert.throws(() => replyExceptionFromWire(5, fromHex('0a7f')), MalformedMessageError);
    assert.throws(() => replyExceptionFromWire(4, fromHex('1009')), MalformedMessageError);
    assert.throws(() => replyExceptionFromWire(6, fromHex('0a00')), MalformedMessageError);
  });

  it('can be of a few kinds only', () => {
    const other = new exceptions.GroupMismatchException('x');
    assert.throws(() => replyExceptionToWire(other), InvalidArgumentError);
  });
});

const BY_STATUS = [
  exceptions.AlreadyClosedException,
  exceptions.AlreadyExistsException,
  exceptions.DataStreamException,
  exceptions.GroupMismatchException,
  exceptions.LeaderSteppingDownException,
  exceptions.ReadException,
  exceptions.ReadIndexException,
  exceptions.ReconfigurationInProgressException,
  exceptions.ReconfigurationTimeoutException,
  exceptions.ResourceUnavailableException,
  exceptions.ServerNotReadyException,
  exceptions.SetConfigurationException,
  exceptions.StaleReadException,
  exceptions.StreamException,
  exceptions.TimeoutIOException,
  exceptions.TransferLeadershipException,
  exceptions.RaftIOException,
  exceptions.IllegalStateException,
  exceptions.IllegalArgumentException,
  exceptions.UnsupportedOperationException,
];

describe('Exceptions in the status', () => {
  for (const Type of BY_STATUS) {
    it(`carry a ${Type.name} (spec: wire-grpc 4.4)`, () => {
      const { message, metadata } = trailersOfException(new Type('s1: no way'));
      const back = exceptionOfTrailers(metadata, message);
      assert.equal(back?.constructor, Type);
      assert.equal(back?.message, 's1: no way');
    });
  }

  it('carry a StateMachineException with its cause in the text', () => {
    const sent = new exceptions.StateMachineException('s1@g', 'java.lang.Error', 'a: b\nc');
    const { message, metadata } = trailersOfException(sent);
    const back = exceptionOfTrailers(metadata, message);
    assert.ok(back instanceof exceptions.StateMachineException);
    assert.equal(back.message, sent.message);
    assert.equal(back.causeClass, 'java.lang.Error');
    assert.equal(back.causeMessage, 'a: b\nc');
  });

  it('degrade to IOException where Java cannot make them from a text', () => {
    for (const error of [
      new exceptions.NotLeaderException('s1', undefined, []),
      new exceptions.RaftRetryFailureException('r'),
      new exceptions.NumberOutOfRangeException('n'),
      new TypeError('t'),
    ]) {
      const { metadata } = trailersOfException(error);
      assert.deepEqual(metadata, { 'exception-type': 'java.io.IOException' });
    }
  });

  it('keep an unknown class in the text of a RaftIOException', () => {
    const cause = new Error('status');
    const metadata = { 'exception-type': 'java.lang.NullPointerException' };
    const error = exceptionOfTrailers(metadata, 'oh', cause);
    assert.ok(error instanceof exceptions.RaftIOException);
    assert.equal(error.message, 'java.lang.NullPointerException: oh');
    assert.equal(error.cause, cause);
  });

  it('are none without a type', () => {
    assert.equal(exceptionOfTrailers({}, 'x'), undefined);
    assert.equal(exceptionOfTrailers({ 'exception-type': GROUP }, 'x'), undefined);
  });

  it('name the failed request, but never call id 0 (spec: wire-grpc 4.1)', () => {
    const error = new exceptions.GroupMismatchException('s2: group not found.');
    const { metadata } = trailersOfException(error, { callId: 5, heartbeat: false });
    assert.deepEqual(metadata, {
      'exception-type': `${PACKAGE}.GroupMismatchException`,
      'call-id': '5',
      heartbeat: 'false',
    });
    assert.deepEqual(failedCallOfTrailers(metadata), { callId: 5, heartbeat: false });
    const first = trailersOfException(error, { callId: 0, heartbeat: undefined });
    assert.deepEqual(Object.keys(first.metadata), ['exception-type']);
    assert.equal(failedCallOfTrailers(first.metadata), undefined);
    assert.equal(failedCallOfTrailers({ 'call-id': '-5' }), undefined);
    const large = failedCallOfTrailers({ 'call-id': '9223372036854775807', heartbeat: 'TRUE' });
    assert.deepEqual(large, { callId: 2n ** 63n - 1n, heartbeat: true });
  });

  it('are cut so that the trailers of a Java peer hold them (spec: wire-grpc 4.3)', () => {
    for (const unit of ['x', 'é', '€', '😀', '%']) {
      const { message } = trailersOfException(new Error(unit.repeat(20_000)));
      const encoded = encodeURIComponent(message).length;
      assert.ok(encoded <= 6010, `${unit}: ${encoded}`);
      assert.ok(encoded > 5900);
    }
  });
});
