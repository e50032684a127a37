import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { InvalidArgumentError } from '../../../common/errors.js';
import { AlreadyClosedException, type RaftException } from '../../../protocol/exceptions.js';
import { createPeer } from '../../../protocol/peer.js';
import { nodeRuntime } from '../../../runtime/node-runtime.js';
import type {
  ChannelOptions,
  ClientStream,
  RpcChannel,
  RpcStatus,
  RpcTransport,
  StreamListener,
} from '../../transport.js';
import { StatusCode } from '../../transport.js';
import { Connections } from './connections.js';

/** A channel whose streams end when the test says so. */
class ScriptedChannel implements RpcChannel {
  readonly target: string;
  readonly state = 'ready';
  readonly listeners: StreamListener[] = [];
  readonly acts: string[] = [];
  closed = false;

  constructor(target: string) {
    this.target = target;
  }
  openStream(_path: string, listener: StreamListener): ClientStream {
    this.listeners.push(listener);
    return {
      bufferedBytes: 0,
      send: () => true,
      pause: () => undefined,
      resume: () => undefined,
      halfClose: () => this.acts.push('halfClose'),
      cancel: () => this.acts.push('cancel'),
    };
  }
  call(): { cancel(): void } {
    throw new Error('no unary calls here');
  }
  resetBackoff(): void {
    this.acts.push('resetBackoff');
  }
  close(_graceMs: number, done?: () => void): void {
    this.closed = true;
    if (done !== undefined) queueMicrotask(done);
  }
}

class ScriptedTransport implements RpcTransport {
  readonly channels: ScriptedChannel[] = [];

  createChannel(target: string): ScriptedChannel {
    const channel = new ScriptedChannel(target);
    this.channels.push(channel);
    return channel;
  }
  createServer(): never {
    throw new Error('no server here');
  }
}

function setUp() {
  let nowMs = 0;
  const transport = new ScriptedTransport();
  const options = {
    tls: undefined,
    limits: { reconnectBackoffMinMs: 100, reconnectBackoffMaxMs: 300 },
  } as ChannelOptions;
  const runtime = { ...nodeRuntime(), clock: { nowMs: () => nowMs, wallTimeMs: () => 0 } };
  const connections = new Connections({ transport, client: options, admin: options }, runtime);
  connections.addPeers([createPeer({ id: 'n0', address: 'h:1' })]);
  const failures: RaftException[] = [];
  const open = () =>
    connections.get('n0').openStream('ordered', {
      onReply: () => undefined,
      onFailed: (error) => failures.push(error),
    });
  return { connections, transport, failures, open, advance: (byMs: number) => (nowMs += byMs) };
}

const LOST: RpcStatus = {
  code: StatusCode.UNAVAILABLE,
  message: 'refused',
  metadata: {},
  cause: new Error('ECONNREFUSED'),
};
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe('the connections of a client (spec: client 4.3)', () => {
  it('keep the first address of a peer', () => {
    const { connections, transport, open } = setUp();
    connections.addPeers([createPeer({ id: 'n0', address: 'other:2' })]);
    open();
    assert.deepEqual(
      transport.channels.map((channel) => channel.target),
      ['h:1'],
    );
  });

  it('refuse a server that is not known, by name', () => {
    const { connections } = setUp();
    assert.throws(() => connections.get('n7'), InvalidArgumentError);
  });

  it('are replaced by a reset: streams of the old one fail, in a turn of their own', async () => {
    const { connections, transport, failures, open } = setUp();
    open();
    connections.reset('n0');
    assert.equal(failures.length, 0);
    open();
    await turn();
    assert.equal(failures.length, 1);
    assert.ok(failures[0] instanceof AlreadyClosedException);
    assert.deepEqual(
      transport.channels.map((channel) => channel.closed),
      [true, false],
    );
  });

  it('are not replaced when they were never used', () => {
    const { connections, transport } = setUp();
    const before = connections.get('n0');
    connections.reset('n0');
    assert.equal(connections.get('n0'), before);
    assert.equal(transport.channels.length, 0);
  });

  it('back off from a lost peer, longer each time, also over resets', async () => {
    const { connections, transport, open, advance } = setUp();
    const pauses: number[] = [];
    for (let attempt = 0; attempt < 5; attempt++) {
      open();
      transport.channels[attempt]?.listeners[0]?.onEnd(LOST);
      connections.reset('n0');
      pauses.push(connections.backoffMs('n0'));
      advance(pauses[attempt] ?? 0);
      assert.equal(connections.backoffMs('n0'), 0);
      await turn();
    }
    assert.deepEqual(pauses.map(Math.round), [100, 160, 256, 300, 300]);
  });

  it('count one loss that ends many streams once, and forget it when the peer answers', () => {
    const { connections, transport, open } = setUp();
    open();
    open();
    open();
    const [first, second, third] = transport.channels[0]?.listeners ?? [];
    first?.onEnd(LOST);
    second?.onEnd(LOST);
    assert.equal(connections.backoffMs('n0'), 100);
    third?.onMessage(new Uint8Array(0));
    assert.equal(connections.backoffMs('n0'), 0);
  });

  it('are told from a status that a server sent', () => {
    const { connections, transport, open } = setUp();
    open();
    transport.channels[0]?.listeners[0]?.onEnd({
      code: StatusCode.UNAVAILABLE,
      message: 'busy',
      metadata: {},
    });
    assert.equal(connections.backoffMs('n0'), 0);
  });

  it('say goodbye on idle streams, cut those in use, and report the end once', async () => {
    const { connections, transport, open } = setUp();
    open().abandon(false);
    open().abandon(true);
    let ends = 0;
    connections.close(0, () => ends++);
    await turn();
    assert.deepEqual(transport.channels[0]?.acts, ['halfClose', 'cancel']);
    assert.equal(ends, 1);
    assert.throws(() => connections.get('n0'), AlreadyClosedException);
  });
});
