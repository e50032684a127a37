import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AlreadyClosedException,
  GroupMismatchException,
  RaftIOException,
  ServerNotReadyException,
  TimeoutIOException,
} from '../../../protocol/exceptions.js';
import { type RpcStatus, StatusCode } from '../../transport.js';
import { failureOf, RpcStatusError, shouldReconnect } from './status-error.js';

const status = (code: RpcStatus['code'], message: string, type?: string): RpcStatus => ({
  code,
  message,
  metadata:
    type === undefined ? {} : { 'exception-type': `org.apache.ratis.protocol.exceptions.${type}` },
});

describe('a status as an exception (spec: wire-grpc 4.2)', () => {
  it('is a timeout when the deadline passed, whatever the trailers say', () => {
    const late = status(StatusCode.DEADLINE_EXCEEDED, 'late', 'GroupMismatchException');
    assert.ok(failureOf(late, 'n0:1') instanceof TimeoutIOException);
  });

  it('has the class and message of the trailers', () => {
    const error = failureOf(status(StatusCode.INTERNAL, 'gone', 'GroupMismatchException'), 'n0:1');
    assert.ok(error instanceof GroupMismatchException);
    assert.equal(error.message, 'gone');
  });

  it('is an IO failure that names target, code and message otherwise', () => {
    const error = failureOf(status(StatusCode.UNAVAILABLE, 'refused'), 'n0:1');
    assert.ok(error instanceof RaftIOException);
    assert.equal(error.message, 'n0:1: UNAVAILABLE: refused');
    assert.ok(error.cause instanceof RpcStatusError);
  });
});

describe('the test whether to reconnect (spec: client 4.1)', () => {
  it('holds for failures of the transport, timeouts and closed connections', () => {
    const closed = new AlreadyClosedException('closed');
    for (const error of [
      failureOf(status(StatusCode.UNAVAILABLE, 'refused'), 'n0:1'),
      failureOf(status(StatusCode.DEADLINE_EXCEEDED, 'late'), 'n0:1'),
      closed,
      new RaftIOException('outer', { cause: closed }),
    ]) {
      assert.ok(shouldReconnect(error), error.message);
    }
  });

  it('does not hold for what the server said over a connection that works', () => {
    const refused = status(StatusCode.INTERNAL, 'not yet', 'ServerNotReadyException');
    const error = failureOf(refused, 'n0:1');
    assert.ok(error instanceof ServerNotReadyException);
    assert.equal(shouldReconnect(error), false);
  });
});
