import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { toError } from '../common/errors.js';
import type { RaftOptions } from '../config/registry.js';
import {
  GroupMismatchException,
  ReconfigurationInProgressException,
  ReconfigurationTimeoutException,
  SetConfigurationException,
  TransferLeadershipException,
} from '../protocol/exceptions.js';
import { createPeer, type RaftPeer, RaftPeerRole } from '../protocol/peer.js';
import type { AdminOperation, RaftClientReply, RaftClientRequest } from '../protocol/requests.js';
import { createConsoleLogger } from '../runtime/index.js';
import type { Division } from '../server/division.js';
import { eventually } from './eventually.js';
import { MiniCluster } from './mini-cluster.js';
import { bytes, RecordingStateMachine } from './recording-state-machine.js';

const logger = process.env['KONTIKI_TEST_LOG'] === undefined ? undefined : createConsoleLogger();

function start(servers: number, options: RaftOptions = {}): Promise<MiniCluster> {
  return MiniCluster.start({
    servers,
    stateMachine: () => new RecordingStateMachine(),
    options,
    ...(logger === undefined ? {} : { logger }),
  });
}

/** At the leader, whoever that is by then. */
async function admin(
  cluster: MiniCluster,
  operation: AdminOperation,
  timeoutMs = 0,
): Promise<RaftClientReply> {
  const leader = await cluster.waitForLeader();
  return cluster.admin(cluster.idOf(leader), operation, timeoutMs);
}

interface Change {
  readonly listeners?: readonly RaftPeer[];
  readonly mode?: 'SET_UNCONDITIONALLY' | 'ADD' | 'COMPARE_AND_SET';
  readonly current?: readonly RaftPeer[];
}

function changeOf(peers: readonly RaftPeer[], change: Change = {}): AdminOperation {
  return {
    kind: 'setConfiguration',
    peers,
    listeners: change.listeners ?? [],
    mode: change.mode ?? 'SET_UNCONDITIONALLY',
    currentPeers: change.current ?? [],
    currentListeners: [],
  };
}

async function change(cluster: MiniCluster, peers: readonly RaftPeer[], fields: Change = {}) {
  const reply = await admin(cluster, changeOf(peers, fields));
  assert.equal(reply.exception, undefined);
  assert.equal(reply.success, true);
}

function ids(peers: readonly RaftPeer[] | undefined): string {
  return (peers ?? [])
    .map((peer) => peer.id)
    .sort()
    .join();
}

/** All members that run have this stable configuration. */
function waitForMembers(cluster: MiniCluster, voters: string, listeners = ''): Promise<unknown> {
  const members = [...voters.split(','), ...listeners.split(',')].filter(Boolean);
  return eventually(`the members are ${voters} (${listeners})`, () =>
    members.every((id) => {
      const conf = cluster.division(id).configuration;
      const isStable = conf !== undefined && conf.old === undefined;
      return isStable && ids(conf.cur.voters) === voters && ids(conf.cur.listeners) === listeners;
    }),
  );
}

function applied(cluster: MiniCluster, id: string): readonly string[] {
  return (cluster.division(id).stateMachine as RecordingStateMachine).applied;
}

/** Sends a request until it is answered with success. */
async function retried(cluster: MiniCluster, request: RaftClientRequest): Promise<void> {
  const untilMs = performance.now() + 10_000;
  for (;;) {
    const leader = await cluster.waitForLeader();
    const reply = await leader.submitClientRequest(request).catch(toError);
    if (!(reply instanceof Error) && reply.success) return;
    const error = reply instanceof Error ? reply : reply.exception;
    if (performance.now() > untilMs) throw new Error('not acknowledged', { cause: error });
    await sleep(5);
  }
}

/** Writes one after the other until it is told to stop; every one must be acknowledged. */
function load(cluster: MiniCluster): { stop(): Promise<string[]> } {
  const acknowledged: string[] = [];
  let stopped = false;
  const writing = (async () => {
    for (let i = 0; !stopped; i++) {
      const request = cluster.request(bytes(`w${i}`));
      await retried(cluster, request);
      acknowledged.push(`w${i}`);
    }
  })();
  return {
    stop: async () => {
      stopped = true;
      await writing;
      return acknowledged;
    },
  };
}

test('grows from 3 to 5 under load', async () => {
  await using cluster = await start(3);
  await cluster.write(bytes('first'));
  const writes = load(cluster);
  const added = [await cluster.startNewServer(), await cluster.startNewServer()];
  await change(cluster, [...cluster.peers, ...added]);
  await waitForMembers(cluster, 'n0,n1,n2,n3,n4');
  const acknowledged = await writes.stop();
  await cluster.waitForAgreement();
  for (const id of cluster.servers.keys()) {
    assert.deepEqual(applied(cluster, id), ['first', ...acknowledged]);
    assert.equal(cluster.division(id).lifeCycleState, 'RUNNING');
  }
});

test('every member is replaced, one by one, under load', async () => {
  await using cluster = await start(3);
  const writes = load(cluster);
  let members = [...cluster.peers];
  for (const old of cluster.peers) {
    const added = await cluster.startNewServer();
    members = [...members.filter((peer) => peer.id !== old.id), added];
    await change(cluster, members);
    await eventually(
      `${old.id} closes`,
      () => cluster.division(old.id).lifeCycleState === 'CLOSED',
    );
    await cluster.stopServer(old.id);
  }
  const acknowledged = await writes.stop();
  await waitForMembers(cluster, 'n3,n4,n5');
  await cluster.waitForAgreement();
  for (const id of ['n3', 'n4', 'n5']) assert.deepEqual(applied(cluster, id), acknowledged);
});

test('H-6: a new listener runs, is promoted, and a voter is demoted', async () => {
  await using cluster = await start(3);
  const [n0, n1, n2] = cluster.peers as [RaftPeer, RaftPeer, RaftPeer];
  const n3 = await cluster.startNewServer();
  await change(cluster, cluster.peers, { listeners: [n3] });
  await waitForMembers(cluster, 'n0,n1,n2', 'n3');
  await eventually('it listens', () => cluster.division('n3').role === RaftPeerRole.LISTENER);
  assert.equal(cluster.division('n3').lifeCycleState, 'RUNNING');
  await change(cluster, [n0, n1, n2, n3]);
  await waitForMembers(cluster, 'n0,n1,n2,n3');
  assert.equal(cluster.division('n3').role, RaftPeerRole.FOLLOWER);
  await change(cluster, [n1, n2, n3], { listeners: [n0] });
  await waitForMembers(cluster, 'n1,n2,n3', 'n0');
  await eventually('n0 listens', () => cluster.division('n0').role === RaftPeerRole.LISTENER);
  assert.equal((await cluster.write(bytes('a'))).success, true);
  await cluster.waitForAgreement();
});

test('H-6: a leader that becomes a listener hands over', async () => {
  await using cluster = await start(3);
  const leader = await cluster.waitForLeader();
  const id = cluster.idOf(leader);
  const others = cluster.peers.filter((peer) => peer.id !== id);
  await change(cluster, others, { listeners: cluster.peers.filter((peer) => peer.id === id) });
  await eventually('it listens', () => leader.role === RaftPeerRole.LISTENER);
  assert.equal((await cluster.write(bytes('a'))).success, true);
  await cluster.waitForAgreement();
});

test('a removed leader closes its division, and the server goes on', async () => {
  await using cluster = await start(3);
  const leader = await cluster.waitForLeader();
  const id = cluster.idOf(leader);
  await change(
    cluster,
    cluster.peers.filter((peer) => peer.id !== id),
  );
  await eventually('it closes', () => leader.lifeCycleState === 'CLOSED');
  assert.deepEqual(cluster.server(id).groupIds.map(String), [String(cluster.group.groupId)]);
  await cluster.stopServer(id);
  assert.equal((await cluster.write(bytes('a'))).success, true);
});

test('ADD keeps the other members (H-7)', async () => {
  await using cluster = await start(2);
  const n2 = await cluster.startNewServer();
  await change(cluster, [], { mode: 'ADD', listeners: [n2] });
  await waitForMembers(cluster, 'n0,n1', 'n2');
  const n3 = await cluster.startNewServer();
  await change(cluster, [n3], { mode: 'ADD' });
  await waitForMembers(cluster, 'n0,n1,n3', 'n2');
});

test('new voters must not be the majority, unless that is allowed', async () => {
  await using cluster = await start(1);
  const added = [await cluster.startNewServer(), await cluster.startNewServer()];
  const all = [...cluster.peers, ...added];
  const operation = changeOf(all, { mode: 'COMPARE_AND_SET', current: cluster.peers });
  await assert.rejects(admin(cluster, operation), SetConfigurationException);
  await change(cluster, all.slice(0, 2));
  await change(cluster, all);
  await waitForMembers(cluster, 'n0,n1,n2');
});

test('COMPARE_AND_SET changes only what the caller has seen', async () => {
  await using cluster = await start(3);
  const two = cluster.peers.slice(0, 2);
  const operation = changeOf(two, { mode: 'COMPARE_AND_SET', current: two });
  await assert.rejects(admin(cluster, operation), SetConfigurationException);
  await change(cluster, two, { mode: 'COMPARE_AND_SET', current: cluster.peers });
  await waitForMembers(cluster, 'n0,n1');
});

test('a new peer that is dead fails the change; another change is refused meanwhile', async () => {
  await using cluster = await start(3);
  const dead = createPeer({ id: 'dead', address: 'dead:1' });
  const leader = cluster.idOf(await cluster.waitForLeader());
  const first = cluster.admin(leader, changeOf([...cluster.peers, dead]));
  const second = cluster.admin(leader, changeOf(cluster.peers.slice(0, 2)));
  const refused = assert.rejects(second, ReconfigurationInProgressException);
  await assert.rejects(first, ReconfigurationTimeoutException);
  await refused;
  await change(cluster, cluster.peers.slice(0, 2));
});

test('the same members again are no change', async () => {
  await using cluster = await start(3);
  const leader = await cluster.waitForLeader();
  const before = leader.configuration;
  await change(cluster, cluster.peers);
  assert.equal(leader.configuration, before);
});

test('leadership goes to the target; its refusals are told', async () => {
  await using cluster = await start(3);
  await cluster.write(bytes('a'));
  const [target] = await followerOf(cluster);
  // On a busy machine a third server can win the election that the transfer causes.
  for (let done = false; !done; ) {
    const operation = { kind: 'transferLeadership', newLeader: target.id } as const;
    done = (await admin(cluster, operation, 20_000)).success;
  }
  assert.equal(cluster.idOf(await cluster.waitForLeader()), target.id);
  const refused = await admin(cluster, { kind: 'transferLeadership', newLeader: 'nobody' });
  assert.ok(refused.exception instanceof TransferLeadershipException);
  assert.equal((await cluster.write(bytes('b'))).success, true);
});

test('without a target the leader steps down', async () => {
  await using cluster = await start(3);
  const leader = await cluster.waitForLeader();
  const term = leader.currentTerm;
  const reply = await admin(cluster, { kind: 'transferLeadership', newLeader: undefined }, 3000);
  assert.equal(reply.success, true);
  await eventually('a leader of a later term', () =>
    cluster.divisions().some((one) => one.isLeaderReady && one.currentTerm > term),
  );
});

async function followerOf(cluster: MiniCluster): Promise<[RaftPeer, Division]> {
  const leader = cluster.idOf(await cluster.waitForLeader());
  const peer = cluster.peers.find((one) => one.id !== leader) as RaftPeer;
  return [peer, cluster.division(peer.id)];
}

test('a voter of higher priority takes over, under load (P-2, H-5)', async () => {
  await using cluster = await start(3);
  const writes = load(cluster);
  const [peer, division] = await followerOf(cluster);
  const peers = cluster.peers.map((one) => ({ ...one, priority: one.id === peer.id ? 2 : 1 }));
  await change(cluster, peers);
  await eventually('it leads', () => division.isLeaderReady);
  const acknowledged = await writes.stop();
  await cluster.waitForAgreement();
  assert.deepEqual(applied(cluster, peer.id), acknowledged);
});

test('H-12: while its elections are paused it does not take over', async () => {
  await using cluster = await start(3);
  const [peer, division] = await followerOf(cluster);
  await cluster.admin(peer.id, { kind: 'electionPause' });
  const leader = await cluster.waitForLeader();
  const peers = cluster.peers.map((one) => ({ ...one, priority: one.id === peer.id ? 2 : 1 }));
  await change(cluster, peers);
  // The leader asks, is refused, and takes writes again.
  await sleep(300);
  await retried(cluster, cluster.request(bytes('a')));
  assert.equal(leader.isLeader, true);
  assert.equal(division.role, RaftPeerRole.FOLLOWER);
  await cluster.admin(peer.id, { kind: 'electionResume' });
  await eventually('it leads', () => division.isLeaderReady);
});

test('an admin request for a group that is not here is refused', async () => {
  await using cluster = await start(1);
  const stranger = await cluster.startNewServer();
  const server = cluster.server(stranger.id);
  await server.removeGroup(cluster.group.groupId, {
    deleteDirectory: true,
    renameDirectory: false,
  });
  await assert.rejects(cluster.admin(stranger.id, changeOf(cluster.peers)), GroupMismatchException);
});
