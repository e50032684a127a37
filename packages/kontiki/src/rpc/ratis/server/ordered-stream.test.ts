import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientReplyFromWire, clientRequestToWire } from '../../../proto/convert/index.js';
import { decodeClientReply, encodeClientRequest } from '../../../proto/wire/index.js';
import {
  AlreadyClosedException,
  LeaderNotReadyException,
  type RaftException,
  ResourceUnavailableException,
} from '../../../protocol/exceptions.js';
import { ClientId, RaftGroupId } from '../../../protocol/ids.js';
import type { RaftClientReply, RaftClientRequest } from '../../../protocol/requests.js';
import { type OutgoingMessage, type RpcStatus, StatusCode } from '../../transport.js';
import type { RaftServerHandler, ReplySink } from './handler.js';
import { OrderedStream } from './ordered-stream.js';
import { ReplyEncoder } from './reply-encoder.js';

const GROUP = RaftGroupId.parse('0123456789abcdef');
const OTHER = RaftGroupId.parse('fedcba9876543210');
const CLIENT = ClientId.of(new Uint8Array(16).fill(7));

/** A stream with the handler behind it; requests wait until the test answers them. */
class Fixture {
  readonly submitted: { request: RaftClientRequest; sink: ReplySink }[] = [];
  readonly sent: RaftClientReply[] = [];
  status: RpcStatus | undefined;
  readonly ended: OrderedStream[] = [];
  readonly stream: OrderedStream;

  constructor() {
    const handler = {
      id: 'n0',
      submitClientRequest: (request: RaftClientRequest, sink: ReplySink) => {
        this.submitted.push({ request, sink });
      },
    } as unknown as RaftServerHandler;
    const transport = {
      bufferedBytes: 0,
      peer: { remoteAddress: 'test', certificateNames: [] },
      send: (message: OutgoingMessage) => {
        assert.ok(message instanceof Uint8Array);
        this.sent.push(clientReplyFromWire(decodeClientReply(message)));
        return true;
      },
      end: (status: RpcStatus) => {
        this.status = status;
      },
      pause: () => undefined,
      resume: () => undefined,
    };
    this.stream = new OrderedStream(transport, handler, new ReplyEncoder(), (over) => {
      this.ended.push(over);
    });
  }

  receive(seqNum: number, isFirst = false, groupId = GROUP, message = new Uint8Array(0)): void {
    const request: RaftClientRequest = {
      clientId: CLIENT,
      serverId: 'n0',
      groupId,
      callId: 100 + seqNum,
      toLeader: true,
      repliedCallIds: [],
      timeoutMs: 0,
      message,
      type: { kind: 'write', replication: 0 },
      slidingWindowEntry: { seqNum, isFirst },
      routingTable: undefined,
      spanContext: undefined,
    };
    this.stream.onMessage(encodeClientRequest(clientRequestToWire(request)));
  }

  /** Answers the request of a sequence number. */
  answer(seqNum: number, exception?: RaftException): void {
    const found = this.submitted.find((one) => one.request.callId === 100 + seqNum);
    assert.ok(found !== undefined, `request ${seqNum} was not submitted`);
    const { clientId, serverId, groupId, callId } = found.request;
    found.sink.onReply({
      clientId,
      serverId,
      groupId,
      callId,
      success: exception === undefined,
      message: undefined,
      exception,
      logIndex: seqNum,
      commitInfos: [],
    });
  }

  get submittedCalls(): unknown[] {
    return this.submitted.map((one) => one.request.callId);
  }

  get sentCalls(): unknown[] {
    return this.sent.map((reply) => reply.callId);
  }
}

test('requests wait for the first one and for gaps, and are submitted in order', () => {
  const f = new Fixture();
  f.receive(7);
  f.receive(9);
  assert.deepEqual(f.submittedCalls, []);
  f.receive(5, true);
  assert.deepEqual(f.submittedCalls, [105]);
  f.receive(6);
  assert.deepEqual(f.submittedCalls, [105, 106, 107]);
  f.receive(8);
  assert.deepEqual(f.submittedCalls, [105, 106, 107, 108, 109]);
});

test('sequence number 0 starts a window without being marked', () => {
  const f = new Fixture();
  f.receive(0);
  assert.deepEqual(f.submittedCalls, [100]);
});

test('replies leave in order although requests finish in any', () => {
  const f = new Fixture();
  f.receive(1, true);
  f.receive(2);
  f.receive(3);
  f.answer(3);
  f.answer(2);
  assert.deepEqual(f.sentCalls, []);
  f.answer(1);
  assert.deepEqual(f.sentCalls, [101, 102, 103]);
});

test('a request that is held already is dropped', () => {
  const f = new Fixture();
  f.receive(1, true);
  f.receive(1, true);
  assert.deepEqual(f.submittedCalls, [101]);
});

test('a request of another group ends the stream', () => {
  const f = new Fixture();
  f.receive(1, true);
  f.receive(2, false, OTHER);
  assert.equal(f.status?.code, StatusCode.INTERNAL);
  assert.match(String(f.status?.metadata['exception-type']), /GroupMismatchException$/);
});

test('an error of one request ends the stream, and nothing is sent after it', () => {
  const f = new Fixture();
  f.receive(1, true);
  f.receive(2);
  f.submitted[0]?.sink.onFailure(new ResourceUnavailableException('full'));
  f.answer(2);
  assert.deepEqual(f.sentCalls, []);
  assert.match(String(f.status?.metadata['exception-type']), /ResourceUnavailableException$/);
  assert.equal(f.status?.message, 'full');
});

test('requests that wait for one before them are bounded in bytes', () => {
  const f = new Fixture();
  const message = new Uint8Array(60 << 20);
  for (let seqNum = 2; seqNum <= 5; seqNum++) f.receive(seqNum, false, GROUP, message);
  assert.equal(f.ended.length, 0);
  f.receive(6, false, GROUP, message);
  assert.match(String(f.status?.metadata['exception-type']), /ResourceUnavailableException$/);
});

test('a half-close answers requests beyond a gap at once, the rest as it completes', () => {
  const f = new Fixture();
  f.receive(1, true);
  f.receive(3);
  f.receive(4);
  f.stream.onHalfClose();
  assert.deepEqual(f.sentCalls, [103, 104]);
  assert.ok(f.sent[0]?.exception instanceof AlreadyClosedException);
  assert.equal(f.ended.length, 0);
  f.answer(1);
  assert.deepEqual(f.sentCalls, [103, 104, 101]);
  assert.equal(f.status?.code, StatusCode.OK);
  assert.deepEqual(f.ended, [f.stream]);
});

test('a half-close with gap requests only completes the stream', () => {
  const f = new Fixture();
  f.receive(3);
  f.stream.onHalfClose();
  assert.deepEqual(f.sentCalls, [103]);
  assert.equal(f.status?.code, StatusCode.OK);
});

test('after a request that is to be tried again, none that came later is carried out', () => {
  const f = new Fixture();
  f.receive(1, true);
  f.receive(2);
  f.receive(4);
  assert.equal(f.submitted[0]?.sink.isAbandoned, false);
  f.answer(2, new LeaderNotReadyException('n0', 'n0', GROUP.bytes));
  f.receive(3);
  assert.deepEqual(f.submittedCalls, [101, 102]);
  assert.equal(f.submitted[0]?.sink.isAbandoned, true);
  assert.deepEqual(f.ended, []);
  f.answer(1);
  assert.deepEqual(f.sentCalls, [101, 102]);
  assert.equal(f.status?.code, StatusCode.OK);
  assert.deepEqual(f.ended, [f.stream]);
});

test('loss of the leadership completes the stream; late replies go nowhere', () => {
  const f = new Fixture();
  f.receive(1, true);
  f.stream.complete();
  f.answer(1);
  assert.equal(f.status?.code, StatusCode.OK);
  assert.deepEqual(f.sentCalls, []);
});

test('a message that is no request ends the stream without an exception type', () => {
  const f = new Fixture();
  f.stream.onMessage(Uint8Array.of(0xff, 0xff, 0xff));
  assert.equal(f.status?.code, StatusCode.UNKNOWN);
  assert.deepEqual(f.status?.metadata, {});
});
