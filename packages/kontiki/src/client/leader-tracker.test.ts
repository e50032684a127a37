import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  AlreadyClosedException,
  LeaderNotReadyException,
  NotLeaderException,
  RaftIOException,
  ResourceUnavailableException,
  TimeoutIOException,
} from '../protocol/exceptions.js';
import { createGroup } from '../protocol/group.js';
import { RaftGroupId } from '../protocol/ids.js';
import { createPeer, type RaftPeer } from '../protocol/peer.js';
import { inJavaOrder } from './java-order.js';
import { type FailoverConnections, LeaderTracker } from './leader-tracker.js';
import { VirtualRuntime } from './virtual-runtime.test-support.js';

const peerOf = (id: string, priority = 0) => createPeer({ id, address: `${id}:1`, priority });

class FakeConnections implements FailoverConnections {
  readonly known = new Set<string>();
  readonly resets: string[] = [];
  readonly unreachable = new Set<string>();

  addPeers(peers: readonly RaftPeer[]): void {
    for (const peer of peers) this.known.add(peer.id);
  }
  has(id: string): boolean {
    return this.known.has(id);
  }
  reset(id: string): void {
    this.resets.push(id);
  }
  backoffMs(id: string): number {
    return this.unreachable.has(id) ? 100 : 0;
  }
}

let groups = 0;

function setUp(peers: readonly RaftPeer[], leaderId?: string, runtime = new VirtualRuntime()) {
  const connections = new FakeConnections();
  const bytes = new Uint8Array(16).fill(++groups & 0xff);
  const group = createGroup(RaftGroupId.of(bytes), peers);
  return {
    connections,
    group,
    runtime,
    tracker: new LeaderTracker(group, leaderId, connections, runtime),
  };
}

const THREE = ['a', 'b', 'c'].map((id) => peerOf(id));

describe('the first leader guess (spec: client 6)', () => {
  it('is the one that was given', () => {
    assert.equal(setUp(THREE, 'c').tracker.leaderId, 'c');
  });

  it('is the peer of the highest priority', () => {
    const peers = [peerOf('a'), peerOf('b', 2), peerOf('c', 1)];
    assert.equal(setUp(peers).tracker.leaderId, 'b');
  });

  it('is the first in the order of a Java hash map on equal priorities', () => {
    const peers = ['s1', 's2', 's3', 's4'].map((id) => peerOf(id));
    assert.deepEqual(
      inJavaOrder(peers).map((peer) => peer.id),
      ['s3', 's4', 's1', 's2'],
    );
    assert.equal(setUp(peers.slice(0, 3)).tracker.leaderId, 's3');
  });

  it('is the leader that another client of the group has seen within a minute', async () => {
    const { tracker, group, runtime, connections } = setUp(THREE, 'a');
    tracker.onAnswered('c');
    const next = () => new LeaderTracker(group, undefined, connections, runtime).leaderId;
    const guess = setUp(THREE).tracker.leaderId;
    assert.notEqual(guess, 'c');
    await runtime.advance(59_000);
    assert.equal(next(), 'c');
    await runtime.advance(60_000);
    assert.equal(next(), guess);
  });
});

describe('failover (spec: client 6)', () => {
  it('follows the suggestion of a NotLeader and keeps the connection', () => {
    const { tracker, connections } = setUp(THREE, 'a');
    tracker.onFailure('a', new NotLeaderException('a', peerOf('c'), []));
    assert.equal(tracker.leaderId, 'c');
    assert.deepEqual(connections.resets, []);
  });

  it('takes over the peers of the NotLeader', () => {
    const { tracker, connections } = setUp(THREE, 'a');
    tracker.onFailure('a', new NotLeaderException('a', undefined, [peerOf('a'), peerOf('d')]));
    assert.equal(tracker.leaderId, 'd');
    assert.ok(connections.has('d'));
    assert.deepEqual(
      tracker.peers.map((peer) => peer.id),
      ['a', 'd'],
    );
  });

  it('does not wait for a suggested leader that cannot be reached', () => {
    const { tracker, connections } = setUp(THREE, 'b');
    connections.unreachable.add('a');
    tracker.onFailure('b', new NotLeaderException('b', peerOf('a'), []));
    assert.equal(tracker.leaderId, 'c');
  });

  it('never chooses a peer without an address', () => {
    const { tracker } = setUp([peerOf('a'), peerOf('b')], 'a');
    const bare = createPeer({ id: 'x' });
    tracker.onFailure('a', new NotLeaderException('a', bare, [bare, peerOf('a'), peerOf('b')]));
    assert.equal(tracker.leaderId, 'b');
  });

  it('chooses another peer and replaces the connection on a lost one', () => {
    const { tracker, connections } = setUp(THREE, 'a');
    tracker.onFailure('a', new TimeoutIOException('late'));
    assert.notEqual(tracker.leaderId, 'a');
    assert.deepEqual(connections.resets, ['a']);
  });

  it('replaces the connection of a server that is not the leader, and keeps the leader', () => {
    const { tracker, connections } = setUp(THREE, 'a');
    tracker.onFailure('b', new AlreadyClosedException('gone'));
    assert.equal(tracker.leaderId, 'a');
    assert.deepEqual(connections.resets, ['b']);
  });

  it('changes nothing on LeaderNotReady and ResourceUnavailable', () => {
    const { tracker, connections } = setUp(THREE, 'a');
    tracker.onFailure('a', new LeaderNotReadyException('a', 'a', new Uint8Array(16)));
    tracker.onFailure('a', new ResourceUnavailableException('full'));
    assert.equal(tracker.leaderId, 'a');
    assert.deepEqual(connections.resets, []);
  });

  it('stays with the only peer there is', () => {
    const { tracker } = setUp([peerOf('a')], 'a');
    tracker.onFailure('a', new RaftIOException('broken'));
    assert.equal(tracker.leaderId, 'a');
  });

  it('does not follow the hint of an RPC error on the blocking path', () => {
    const { tracker } = setUp([peerOf('a'), peerOf('b')], 'a');
    tracker.onRpcFailure('a', new NotLeaderException('a', peerOf('z'), []));
    assert.equal(tracker.leaderId, 'b');
  });
});
