import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NULL_LOGGER } from '../common/logger.js';
import type { AppendOffer, RaftEngine } from '../core/types.js';
import type { LogEntry } from '../proto/wire/types.js';
import { RaftGroupId } from '../protocol/ids.js';
import type { AppendStreamListener, PeerStubs } from '../rpc/ratis/server/peer-stubs.js';
import type { RaftLog } from '../storage/types.js';
import { Appender } from './appender.js';

const ROUTE = { from: 'n0', to: 'n1', groupId: RaftGroupId.parse('0123456789abcdef') };
const TOKEN = { term: 1, epoch: 1, from: 5 };

/** An appender whose engine, log and stream do what the test says. */
class Fixture {
  offer: AppendOffer = { kind: 'entries', token: TOKEN, from: 5, to: 9 };
  startIndex = 0;
  room = true;
  sends = 0;
  listener: AppendStreamListener | undefined;
  readonly readFailures: Error[] = [];
  read: LogEntry[] | Promise<LogEntry[]> = [];
  readonly appender: Appender;

  constructor() {
    const header = { callId: 1, leaderTerm: 1, previous: undefined, leaderCommit: -1 };
    const engine = {
      nextFor: () => this.offer,
      commitSend: () => ({ ...header, initializing: false }),
    };
    const stream = {
      send: () => {
        this.sends++;
        return this.room;
      },
      halfClose: () => undefined,
      cancel: () => undefined,
    };
    const stubs = {
      hasHeartbeatChannel: true,
      openAppendStream: (_channel: string, listener: AppendStreamListener) => {
        this.listener = listener;
        return stream;
      },
    };
    const log = { read: () => this.read };
    Object.defineProperty(log, 'startIndex', { get: () => this.startIndex });
    this.appender = new Appender(1, stubs as unknown as PeerStubs, ROUTE, {
      engine: engine as unknown as RaftEngine,
      log: log as unknown as RaftLog,
      logger: NULL_LOGGER,
      limits: { maxBytes: 1, maxCount: 1 },
      heartbeatPollMs: 10,
      commitInfos: () => [],
      nowMs: () => 0,
      submit: (input) => input(),
      peerAnswered: () => undefined,
      peerFailed: () => undefined,
      followerCommit: () => undefined,
      needsSnapshot: () => undefined,
      readFailed: (error) => void this.readFailures.push(error),
    });
  }
}

const settled = () => new Promise((resolve) => setImmediate(resolve));

test('entries that were purged while they were read are asked for anew', async () => {
  const f = new Fixture();
  f.read = Promise.reject(new Error('the segment is gone'));
  f.appender.pump();
  assert.equal(f.appender.pumpAtMs, 10);
  f.startIndex = 7;
  await settled();
  assert.deepEqual(f.readFailures, []);
  assert.equal(f.appender.pumpAtMs, 0);
});

test('entries that the log has and cannot read are a failure', async () => {
  const f = new Fixture();
  f.read = Promise.reject(new Error('EIO'));
  f.appender.pump();
  await settled();
  assert.equal(f.readFailures.length, 1);
});

test('no more heartbeats are sent to a peer that takes none', () => {
  const f = new Fixture();
  f.offer = { kind: 'heartbeat', token: TOKEN };
  f.room = false;
  f.appender.pump();
  f.appender.pump();
  assert.equal(f.sends, 1);
  f.listener?.onDrain();
  f.appender.pump();
  assert.equal(f.sends, 2);
});
