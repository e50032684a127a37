import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { JavaClient } from './clients.js';
import type { MemberKind } from './members.js';
import { MixedCluster } from './mixed-cluster.js';
import type { PeerArguments } from './peer-process.js';

interface Step {
  readonly title: string;
  readonly op: string;
  readonly at?: 'leader' | 'follower';
  readonly args?: PeerArguments;
}

const OTHER_GROUP = '11111111-2222-4333-8444-555555555555';

/** One attempt each, past the client's retries. */
function raw(title: string, at: 'leader' | 'follower', args: PeerArguments): Step {
  return { title, op: 'raw', at, args };
}

const STEPS: readonly Step[] = [
  raw('write', 'leader', { callId: 1, text: 'INCREMENT' }),
  raw('the same call again', 'leader', { callId: 1, text: 'INCREMENT' }),
  raw('write at a follower', 'follower', { callId: 2, text: 'INCREMENT' }),
  raw('write to all', 'leader', { callId: 3, text: 'INCREMENT', level: 'ALL' }),
  raw('empty write', 'leader', { callId: 4, text: '' }),
  raw('failure when applied', 'leader', { callId: 5, text: 'FAIL' }),
  raw('the failed call again', 'leader', { callId: 5, text: 'FAIL' }),
  raw('refusal', 'leader', { callId: 6, text: 'REJECT' }),
  raw('the refused call again', 'leader', { callId: 6, text: 'REJECT' }),
  raw('throw before the log', 'leader', { callId: 7, text: 'THROW' }),
  raw('write to an unknown group', 'leader', { callId: 8, text: 'a', group: OTHER_GROUP }),
  raw('read', 'leader', { callId: 9, text: 'GET', type: 'read' }),
  raw('read at a follower', 'follower', { callId: 10, text: 'GET', type: 'read' }),
  raw('failing query', 'leader', { callId: 11, text: 'WHAT', type: 'read' }),
  raw('failing query at a follower', 'follower', { callId: 12, text: 'WHAT', type: 'read' }),
  raw('query without answer', 'leader', { callId: 13, text: 'NULL', type: 'read' }),
  raw('loose read', 'leader', { callId: 15, text: 'GET', type: 'readNonLinearizable' }),
  raw('loose read at a follower', 'follower', {
    callId: 16,
    text: 'GET',
    type: 'readNonLinearizable',
  }),
  raw('read after write', 'leader', { callId: 17, text: 'GET', type: 'readAfterWrite' }),
  raw('read after write at a follower', 'follower', {
    callId: 18,
    text: 'GET',
    type: 'readAfterWrite',
  }),
  raw('stale read', 'follower', { callId: 19, text: 'GET', type: 'staleRead', index: 0 }),
  raw('stale read too far', 'follower', {
    callId: 20,
    text: 'GET',
    type: 'staleRead',
    index: 1_000_000,
  }),
  raw('watch', 'leader', { callId: 21, text: '', type: 'watch', index: 1, level: 'ALL' }),
  raw('watch of nothing', 'leader', { callId: 22, text: '', type: 'watch', index: 0 }),
  raw('watch at a follower', 'follower', { callId: 23, text: '', type: 'watch', index: 1 }),
  raw('watch in vain', 'leader', { callId: 24, text: '', type: 'watch', index: 1_000_000 }),
  { title: 'groups', op: 'groupList', at: 'leader' },
  { title: 'group at the leader', op: 'groupInfo', at: 'leader' },
  { title: 'group at a follower', op: 'groupInfo', at: 'follower' },
  { title: 'unknown group', op: 'groupInfo', at: 'leader', args: { group: OTHER_GROUP } },
  {
    title: 'remove an unknown group',
    op: 'groupRemove',
    at: 'leader',
    args: { group: OTHER_GROUP },
  },
  { title: 'snapshot', op: 'snapshot', at: 'follower' },
  { title: 'snapshot again', op: 'snapshot', at: 'follower' },
];

/**
 * A Java server adds the serialized exception to the status, in which no other can be told; a Java
 * client makes the exception from its class name else, and gives it the status as cause.
 */
const STATUS_AS_CAUSE = 'org.apache.ratis.thirdparty.io.grpc.StatusRuntimeException';

function isStatus(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'type' in value
    ? value.type === STATUS_AS_CAUSE
    : false;
}

/** What differs from run to run. */
const VOLATILE = new Set(['index', 'commit', 'commits', 'applied', 'committed', 'lastEntry']);

function normalize(value: unknown, names: ReadonlyMap<string, string>): unknown {
  if (typeof value === 'string') {
    return [...names]
      .reduce((text, [from, to]) => text.replaceAll(from, to), value)
      .replace(/client-[0-9A-F]{12}/g, 'client-C')
      .replace(/index = \d+/g, 'index = N');
  }
  if (Array.isArray(value)) return value.map((one) => normalize(one, names));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => !isStatus(field))
      .map(([key, field]) => {
        if (key.endsWith('ElapsedMs')) return [key, 'elapsed'];
        if (key === 'term') return [key, 'term'];
        return [key, VOLATILE.has(key) ? typeof field : normalize(field, names)];
      }),
  );
}

async function run(kind: MemberKind): Promise<Map<string, unknown>> {
  await using cluster = await MixedCluster.start({
    kinds: [kind, kind, kind],
    properties: { 'raft.server.watch.timeout': '1s' },
  });
  const leader = await cluster.waitForLeader();
  const client = await JavaClient.open({ group: cluster.group, tls: undefined, attempts: 1 });
  try {
    const followers = cluster.running.filter((id) => id !== leader);
    const { uuid } = cluster.group.groupId;
    const names = new Map([
      [uuid, 'GROUP'],
      [uuid.slice(-12).toUpperCase(), 'GROUP'],
      ...cluster.group.peers.map(({ id, address }) => [address, `address of ${id}`] as const),
      [leader, 'LEADER'],
      [followers[0] ?? '', 'FOLLOWER'],
      [followers[1] ?? '', 'OTHER'],
    ]);
    const outcomes = new Map<string, unknown>();
    for (const step of STEPS) {
      const server = step.at === 'leader' ? leader : followers[0];
      const outcome = await client.outcome(step.op, { server, ...step.args });
      outcomes.set(step.title, normalize(outcome, names));
    }
    return outcomes;
  } finally {
    await client.close();
  }
}

/** Order of members means nothing. */
function sorted(outcome: unknown): string {
  return JSON.stringify(
    outcome,
    (key, value: unknown) =>
      Array.isArray(value) && (key === 'peers' || key === 'followers')
        ? value.map((one) => JSON.stringify(one)).sort()
        : value,
    1,
  );
}

describe('servers of both kinds give a Java client the same answers', async () => {
  const java = run('java');
  const kontiki = java.then(() => run('kontiki'));
  for (const { title } of STEPS) {
    it(title, async () => {
      const expected = (await java).get(title);
      assert.equal(sorted((await kontiki).get(title)), sorted(expected));
    });
  }
});
