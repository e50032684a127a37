import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AppendReply, AppendRequest } from '../core/types.js';
import { createStateMachineEntry, decodePeer, encodePeer } from '../proto/wire/index.js';
import type {
  AppendEntriesReplyMessage,
  AppendEntriesRequestMessage,
} from '../proto/wire/types.js';
import { ServerNotReadyException } from '../protocol/exceptions.js';
import { AppendRequests } from './append-requests.js';
import { CommitInfos } from './commit-infos.js';
import type { DivisionParts } from './division-parts.js';

const REQUEST: AppendEntriesRequestMessage = {
  requestorId: 'n1',
  replyId: 'n0',
  raftGroupId: new Uint8Array(16),
  callId: 5,
  leaderTerm: 3,
  previousTerm: 2,
  previousIndex: 8,
  leaderCommit: 8,
  initializing: false,
  commitInfos: [],
  spanContext: undefined,
  entries: [],
};
const REPLY: AppendReply = {
  result: 0,
  term: 3,
  nextIndex: 9,
  matchIndex: -1,
  followerCommit: 8,
  isHeartbeat: true,
};

/** What the engine was given, what the leader was answered, and how its stream was held. */
class Fixture {
  readonly given: [number, AppendRequest][] = [];
  readonly replies: AppendEntriesReplyMessage[] = [];
  readonly failures: Error[] = [];
  readonly flow: string[] = [];
  drained: () => void = () => undefined;
  readonly requests: AppendRequests;
  readonly sink = {
    onReply: (reply: AppendEntriesReplyMessage) => void this.replies.push(reply),
    onFailure: (error: Error) => void this.failures.push(error),
    pause: () => void this.flow.push('pause'),
    resume: () => void this.flow.push('resume'),
  };

  constructor() {
    this.requests = new AppendRequests({
      selfId: 'n0',
      memberId: 'n0@group',
      engine: {
        onAppendRequest: (id: number, request: AppendRequest) => this.given.push([id, request]),
      },
      log: {
        whenDrained: (callback: () => void) => {
          this.drained = callback;
        },
      },
      config: { log: { entrySizeMaxBytes: 100 } },
      commitInfos: new CommitInfos('n0', { encode: encodePeer, decode: decodePeer }),
      nowMs: () => 0,
      submit: (input: () => void) => {
        input();
        return true;
      },
    } as unknown as DivisionParts);
  }
}

test('a reply repeats the ids of its request', () => {
  const f = new Fixture();
  f.requests.submit(REQUEST, f.sink);
  const [id, request] = f.given[0] ?? [0];
  assert.deepEqual(request?.previous, { term: 2, index: 8 });
  f.requests.reply(id, REPLY);
  assert.equal(f.replies[0]?.requestorId, 'n1');
  assert.equal(f.replies[0]?.replyId, 'n0');
  assert.equal(f.replies[0]?.callId, 5);
  assert.equal(f.replies[0]?.success, true);
});

test('what a peer sends and cannot be read is refused, and does not reach the engine', () => {
  const f = new Fixture();
  const commitInfos = [{ server: Uint8Array.of(0xff), commitIndex: 1 }];
  f.requests.submit({ ...REQUEST, commitInfos }, f.sink);
  assert.equal(f.given.length, 0);
  assert.equal(f.failures.length, 1);
});

test('an entry that the log would not take is refused before it can harm the log', () => {
  const f = new Fixture();
  const clientId = new Uint8Array(16);
  const logData = new Uint8Array(100);
  const body = { logData, data: undefined, type: 0, clientId, callId: 1 } as const;
  const entry = createStateMachineEntry({ term: 3, index: 9, ...body });
  f.requests.submit({ ...REQUEST, entries: [entry] }, f.sink);
  assert.equal(f.given.length, 0);
  assert.match(
    String(f.failures[0]),
    /entry 9 takes 134 bytes in the log, above .*byte-limit 100$/,
  );
});

test('a full log pauses the leaders that are read, until it has drained', () => {
  const f = new Fixture();
  f.requests.submit(REQUEST, f.sink);
  f.requests.logFull();
  assert.deepEqual(f.flow, ['pause']);
  f.drained();
  assert.deepEqual(f.flow, ['pause', 'resume']);
});

test('a division that closes fails what it holds', () => {
  const f = new Fixture();
  f.requests.submit(REQUEST, f.sink);
  f.requests.failAll();
  assert.ok(f.failures[0] instanceof ServerNotReadyException);
});
