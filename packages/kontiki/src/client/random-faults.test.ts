import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { ClientRequestMessage } from '../proto/wire/index.js';
import { OK_STATUS } from '../rpc/transport.js';
import {
  type Cluster,
  type FakeServer,
  type FakeStream,
  failure,
  leaderNotReady,
  notLeader,
  success,
  withCluster,
} from './fake-server.test-support.js';

/** What may happen at a server instead of an answer. */
const FAULTS = ['complete', 'fail', 'notLeader', 'notReady', 'ignore'] as const;
type Fault = (typeof FAULTS)[number] | 'none';

interface StreamState {
  next: number | undefined;
  readonly held: Map<number, ClientRequestMessage>;
  isStuck: boolean;
}

/**
 * A group that keeps one order of writes and carries each call id out once; its leader moves about.
 */
class Group {
  readonly applied: string[] = [];
  readonly #byCallId = new Map<unknown, string>();
  readonly #faults: Fault[];
  readonly #cluster: Cluster;
  #leader: FakeServer;

  constructor(cluster: Cluster, faults: readonly Fault[]) {
    this.#cluster = cluster;
    this.#leader = cluster.servers[0];
    this.#faults = [...faults];
    for (const server of cluster.servers) this.#serve(server);
  }

  /** The rules of an ordered stream at a server (spec: wire-grpc 5.3), answering at once. */
  #serve(server: FakeServer): void {
    const states = new Map<FakeStream, StreamState>();
    server.onRequest = (stream, request) => {
      const state = states.get(stream) ?? { next: undefined, held: new Map(), isStuck: false };
      states.set(stream, state);
      if (state.isStuck) return;
      const seqNum = Number(request.seqNum);
      if (state.next === undefined && request.isFirst) state.next = seqNum;
      assert.ok(state.next === undefined || seqNum >= state.next, 'a request behind the window');
      state.held.set(seqNum, request);
      for (;;) {
        const held = state.next === undefined ? undefined : state.held.get(state.next);
        if (held === undefined || state.next === undefined) return;
        state.held.delete(state.next);
        state.next++;
        state.isStuck = !this.#process(server, stream, held);
        if (state.isStuck) return;
      }
    };
  }

  /** False when the stream takes nothing more. */
  #process(server: FakeServer, stream: FakeStream, request: ClientRequestMessage): boolean {
    const fault = this.#faults.shift() ?? 'none';
    if (server !== this.#leader) {
      stream.reply(request, notLeader(this.#leader.peer));
      return true;
    }
    switch (fault) {
      case 'complete':
        stream.end(OK_STATUS);
        return false;
      case 'fail':
        this.#apply(request); // done, but the answer is lost
        stream.end(failure('ServerNotReadyException', 'broken'));
        return false;
      case 'notLeader': {
        const { servers } = this.#cluster;
        this.#leader = servers[(servers.indexOf(server) + 1) % 3] ?? server;
        stream.reply(request, notLeader(this.#leader.peer));
        return true;
      }
      case 'notReady':
        stream.reply(request, leaderNotReady(server.peer.id));
        return false; // a leader does not lose its readiness: what was sent after it meets the same
      case 'ignore':
        this.#apply(request); // done, but never answered
        return false; // and so nothing after it is answered either
      case 'none':
        stream.reply(request, success(this.#apply(request)));
        return true;
    }
  }

  #apply(request: ClientRequestMessage): string {
    const known = this.#byCallId.get(request.callId);
    if (known !== undefined) return known;
    const content = new TextDecoder().decode(request.content);
    this.applied.push(content);
    this.#byCallId.set(request.callId, content);
    return content;
  }
}

describe('ordered writes under random faults', () => {
  it('are carried out once each, in order, and answered with their own results', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom<Fault>(...FAULTS, 'none', 'none', 'none'), { maxLength: 40 }),
        fc.integer({ min: 1, max: 30 }),
        fc.integer({ min: 2, max: 8 }),
        async (faults, count, permits) => {
          const properties = { 'raft.client.async.outstanding-requests.max': String(permits) };
          await withCluster({ properties }, async (cluster) => {
            const { client, runtime } = cluster;
            const group = new Group(cluster, faults);
            const messages = Array.from({ length: count }, (_, i) => `m${i}`);
            const replies = Promise.all(messages.map((message) => client.async().send(message)));
            const results = (await runtime.until(replies)).map((reply) =>
              new TextDecoder().decode(reply.message),
            );
            assert.deepEqual(results, messages);
            assert.deepEqual(group.applied, messages);
          });
        },
      ),
      { numRuns: 40 },
    ));
});
