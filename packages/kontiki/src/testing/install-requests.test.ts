import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createConfiguration } from '../protocol/configuration.js';
import {
  type InstallSnapshotRequest,
  InstallSnapshotResult,
  type SnapshotChunk,
} from '../protocol/server-messages.js';
import type { InstallSnapshotAnswer } from '../rpc/ratis/server/handler.js';
import type { Division } from '../server/division.js';
import { MiniCluster } from './mini-cluster.js';
import { bytes, RecordingStateMachine, text } from './recording-state-machine.js';

class SavingStateMachine extends RecordingStateMachine {
  protected override restore(content: Uint8Array): void {
    this.applied.splice(0, this.applied.length, ...text(content).split(','));
  }
}

const TERM = 50;
const CONTENT = bytes('a,b,c');
const DIGEST = new Uint8Array(createHash('md5').update(CONTENT).digest());

/** The last server of a cluster: it hears from nobody but the test, which plays its leader n1. */
async function lonelyFollower(t: TestContext, options = {}): Promise<[MiniCluster, Division]> {
  const cluster = await MiniCluster.start({
    stateMachine: () => new SavingStateMachine(),
    options: {
      'raft.server.rpc.timeout.min': '20s',
      'raft.server.rpc.timeout.max': '30s',
      'raft.server.rpc.first-election.timeout.min': '20s',
      'raft.server.rpc.first-election.timeout.max': '30s',
      ...options,
    },
  });
  t.after(() => cluster.close());
  return [cluster, cluster.division('n0')];
}

function ask(division: Division, request: InstallSnapshotRequest): Promise<InstallSnapshotAnswer> {
  return new Promise((resolve, reject) => {
    division.installSnapshot(request, (error, answer) => {
      if (answer === undefined) reject(error);
      else resolve(answer);
    });
  });
}

function request(
  cluster: MiniCluster,
  body: InstallSnapshotRequest['body'],
  fields: Partial<InstallSnapshotRequest> = {},
): InstallSnapshotRequest {
  return {
    requestorId: 'n1',
    replyId: 'n0',
    groupId: cluster.group.groupId,
    callId: 0,
    leaderTerm: TERM,
    body,
    lastConfiguration: undefined,
    ...fields,
  };
}

/** One byte of the file a piece. */
function piece(requestIndex: number, requestId = 'r1', snapshotIndex = 30): SnapshotChunk {
  const done = requestIndex === CONTENT.length - 1;
  return {
    kind: 'chunk',
    requestId,
    requestIndex,
    termIndex: { term: 4, index: snapshotIndex },
    fileChunks: [
      {
        filename: `sm/snapshot.4_${snapshotIndex}`,
        totalSizeBytes: 0,
        fileDigest: DIGEST,
        chunkIndex: requestIndex,
        offsetBytes: requestIndex,
        data: CONTENT.subarray(requestIndex, requestIndex + 1),
        done,
      },
    ],
    totalSizeBytes: CONTENT.length,
    done,
  };
}

async function sendAll(cluster: MiniCluster, division: Division, requestId: string) {
  const answers: InstallSnapshotAnswer[] = [];
  for (let i = 0; i < CONTENT.length; i++) {
    answers.push(await ask(division, request(cluster, piece(i, requestId))));
  }
  return answers;
}

test('pieces in order are answered one by one, and the last one installs', async (t) => {
  const [cluster, division] = await lonelyFollower(t);
  const answers = await sendAll(cluster, division, 'r1');
  answers.forEach((answer, i) => {
    assert.equal(answer.result, InstallSnapshotResult.SUCCESS);
    assert.equal(answer.success, true);
    assert.deepEqual(answer.body, { kind: 'requestIndex', requestIndex: i });
  });
  assert.deepEqual((division.stateMachine as SavingStateMachine).applied, ['a', 'b', 'c']);
  assert.equal(division.appliedIndex, 30);
  assert.equal(division.commitIndex, 30);
  // The term of the reply is the one before the leader's was taken over.
  assert.equal(answers[0]?.term, 0);
  const again = await sendAll(cluster, division, 'r2');
  for (const answer of again) {
    assert.equal(answer.result, InstallSnapshotResult.ALREADY_INSTALLED);
  }
});

test('a piece out of order ends the transfer, and the next one starts over', async (t) => {
  const [cluster, division] = await lonelyFollower(t);
  await ask(division, request(cluster, piece(0)));
  await assert.rejects(ask(division, request(cluster, piece(2))), { code: 'RAFT_IO' });
  const answer = await ask(division, request(cluster, piece(1)));
  assert.equal(answer.result, InstallSnapshotResult.SNAPSHOT_EXPIRED);
  assert.equal(answer.success, false);
  const answers = await sendAll(cluster, division, 'r2');
  assert.equal(answers.at(-1)?.result, InstallSnapshotResult.SUCCESS);
  assert.equal(division.appliedIndex, 30);
});

test('H-24: pieces of an older transfer or term do not mix with the present one', async (t) => {
  const [cluster, division] = await lonelyFollower(t);
  const { SNAPSHOT_EXPIRED, SUCCESS } = InstallSnapshotResult;
  await ask(division, request(cluster, piece(0, 'old')));
  await ask(division, request(cluster, piece(0, 'new')));
  const late = await ask(division, request(cluster, piece(1, 'old')));
  assert.equal(late.result, SNAPSHOT_EXPIRED);
  const other = { leaderTerm: TERM + 1 };
  const newer = await ask(division, request(cluster, piece(1, 'new'), other));
  assert.equal(newer.result, SNAPSHOT_EXPIRED);
  for (let i = 0; i < CONTENT.length; i++) {
    const answer = await ask(division, request(cluster, piece(i, 'third'), other));
    assert.equal(answer.result, SUCCESS);
  }
});

test('H-10: the configuration of a deposed leader is not taken over', async (t) => {
  const [cluster, division] = await lonelyFollower(t);
  const { peers } = cluster;
  const cur = { voters: peers.slice(0, 2), listeners: [] };
  const lastConfiguration = createConfiguration(cur, undefined, 25);
  await ask(division, request(cluster, piece(0)));
  const old = { leaderTerm: TERM - 1, lastConfiguration };
  const refused = await ask(division, request(cluster, piece(0, 'r2'), old));
  assert.equal(refused.result, InstallSnapshotResult.NOT_LEADER);
  assert.deepEqual(refused.body, { kind: 'requestIndex', requestIndex: 0 });
  assert.equal(division.configuration?.cur.voters.length, 3);
  await ask(division, request(cluster, piece(0, 'r3'), { lastConfiguration }));
  assert.equal(division.configuration?.cur.voters.length, 2);
  const current = join(division.storageDirectory ?? '', 'current');
  assert.ok(readdirSync(current).includes('raft-meta.conf'));
  const stored = readFileSync(join(current, 'raft-meta.conf')).toString('latin1');
  assert.ok(stored.includes('n1') && !stored.includes('n2'));
});

test('a request of the other mode, or of none, is answered CONF_MISMATCH', async (t) => {
  const [cluster, division] = await lonelyFollower(t);
  const notice = { kind: 'notification', firstAvailable: { term: 1, index: 5 } } as const;
  for (const body of [notice, undefined]) {
    const answer = await ask(division, request(cluster, body));
    assert.deepEqual(answer, {
      success: false,
      term: 0,
      result: InstallSnapshotResult.CONF_MISMATCH,
      body: { kind: 'snapshotIndex', snapshotIndex: 0 },
    });
  }
});

test('request ids and file names that lead elsewhere are refused', async (t) => {
  const [cluster, division] = await lonelyFollower(t);
  await assert.rejects(ask(division, request(cluster, piece(0, '../x'))), { code: 'RAFT_IO' });
  const fileChunks = piece(0).fileChunks.map((one) => ({ ...one, filename: 'sm/../../x' }));
  const evil = { ...piece(0), fileChunks };
  const refused = { code: 'KONTIKI_SNAPSHOT_TRANSFER' };
  await assert.rejects(ask(division, request(cluster, evil)), refused);
});

test('a state machine that knows of no snapshot to fetch says so', async (t) => {
  const [cluster, division] = await lonelyFollower(t, {
    'raft.server.log.appender.install.snapshot.enabled': false,
  });
  const notice = (index: number) =>
    ask(division, request(cluster, { kind: 'notification', firstAvailable: { term: 1, index } }));
  const answer = await notice(5);
  assert.equal(answer.result, InstallSnapshotResult.SNAPSHOT_UNAVAILABLE);
  assert.deepEqual(answer.body, { kind: 'snapshotIndex', snapshotIndex: 0 });
});

test('a division that closes during a transfer answers, and removes the files', async (t) => {
  const [cluster, division] = await lonelyFollower(t);
  await ask(division, request(cluster, piece(0)));
  const root = division.storageDirectory ?? '';
  assert.equal(readdirSync(join(root, 'tmp')).length, 1);
  const pending = ask(division, request(cluster, piece(1)));
  const closed = division.close();
  await pending.catch((error: Error) => assert.match(error.message, /closing/));
  await closed;
  assert.deepEqual(readdirSync(join(root, 'tmp')), []);
  await assert.rejects(ask(division, request(cluster, piece(2))), /not ready|state|NEW|CLOS/);
});
