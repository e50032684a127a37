import assert from 'node:assert/strict';
import { test } from 'node:test';
import { clientRequestToWire } from '../../../proto/convert/index.js';
import { encodeClientRequest } from '../../../proto/wire/index.js';
import { ClientId, RaftGroupId } from '../../../protocol/ids.js';
import type { RaftClientRequest } from '../../../protocol/requests.js';
import type { RpcStatus, ServerStream, StreamListener } from '../../transport.js';
import type { RaftServerHandler, ReplySink } from './handler.js';
import { OrderedStream } from './ordered-stream.js';
import { ReplyEncoder } from './reply-encoder.js';
import { UnorderedStream } from './unordered-stream.js';

const LIMIT = 128;

/** A stream whose client asks, and whose handler answers when the test says so. */
class Fixture {
  readonly submitted: { request: RaftClientRequest; sink: ReplySink }[] = [];
  readonly flow: string[] = [];
  hasRoom = true;
  sent = 0;
  status: RpcStatus | undefined;
  readonly stream: StreamListener;

  constructor(ordered: boolean) {
    const handler = {
      id: 'n0',
      submitClientRequest: (request: RaftClientRequest, sink: ReplySink) => {
        this.submitted.push({ request, sink });
      },
    } as unknown as RaftServerHandler;
    const transport: ServerStream = {
      bufferedBytes: 0,
      peer: { remoteAddress: 'test', certificateNames: [] },
      send: () => {
        this.sent++;
        return this.hasRoom;
      },
      end: (status) => {
        this.status = status;
      },
      pause: () => void this.flow.push('pause'),
      resume: () => void this.flow.push('resume'),
    };
    this.stream = ordered
      ? new OrderedStream(transport, handler, new ReplyEncoder(), () => undefined)
      : new UnorderedStream(transport, handler, new ReplyEncoder());
  }

  ask(count: number): void {
    for (let seqNum = 1; seqNum <= count; seqNum++) {
      const request: RaftClientRequest = {
        clientId: ClientId.of(new Uint8Array(16).fill(7)),
        serverId: 'n0',
        groupId: RaftGroupId.parse('0123456789abcdef'),
        callId: seqNum,
        toLeader: true,
        repliedCallIds: [],
        timeoutMs: 0,
        message: new Uint8Array(0),
        type: {
          kind: 'read',
          preferNonLinearizable: false,
          readAfterWriteConsistent: false,
          dummy: false,
        },
        slidingWindowEntry: { seqNum, isFirst: seqNum === 1 },
        routingTable: undefined,
        spanContext: undefined,
      };
      this.stream.onMessage(encodeClientRequest(clientRequestToWire(request)));
    }
  }

  answer(position: number): void {
    const one = this.submitted[position];
    assert.ok(one !== undefined);
    const { clientId, serverId, groupId, callId } = one.request;
    one.sink.onReply({
      ...{ clientId, serverId, groupId, callId, success: true, message: undefined },
      ...{ exception: undefined, logIndex: 0, commitInfos: [] },
    });
  }
}

for (const ordered of [true, false]) {
  const name = ordered ? 'an ordered stream' : 'an unordered stream';

  test(`${name} carries out so many queries at a time, and reads no more meanwhile`, () => {
    const f = new Fixture(ordered);
    f.ask(LIMIT + 2);
    assert.equal(f.submitted.length, LIMIT);
    assert.deepEqual(f.flow, ['pause']);
    f.answer(0);
    assert.equal(f.submitted.length, LIMIT + 1);
    assert.deepEqual(f.flow, ['pause']);
    f.answer(1);
    assert.equal(f.submitted.length, LIMIT + 2);
    assert.deepEqual(f.flow, ['pause', 'resume']);
  });

  test(`${name} carries out no query while its client takes no replies`, () => {
    const f = new Fixture(ordered);
    f.ask(LIMIT + 1);
    f.hasRoom = false;
    f.answer(0);
    assert.equal(f.submitted.length, LIMIT);
    f.stream.onDrain?.();
    assert.equal(f.submitted.length, LIMIT + 1);
    assert.deepEqual(f.flow, ['pause', 'resume']);
  });

  test(`${name} answers what waits for room after a half-close, then ends`, () => {
    const f = new Fixture(ordered);
    f.ask(LIMIT + 1);
    f.stream.onHalfClose?.();
    for (let i = 0; i <= LIMIT; i++) f.answer(i);
    assert.equal(f.sent, LIMIT + 1);
    assert.equal(f.status?.code, 0);
  });
}
