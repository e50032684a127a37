import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AlreadyClosedException,
  NotLeaderException,
  NotReplicatedException,
  type RaftException,
  ResourceUnavailableException,
  ServerNotReadyException,
  StateMachineException,
} from '../protocol/exceptions.js';
import { DUMMY_CONTENT, ReplicationLevel, type RequestType } from '../protocol/requests.js';
import type { TransactionContext } from '../statemachine/types.js';
import { eventually } from './eventually.js';
import { MiniCluster } from './mini-cluster.js';
import { bytes, RecordingStateMachine, text } from './recording-state-machine.js';

/** Misbehaves as the written text says. */
class FaultyStateMachine extends RecordingStateMachine {
  readonly cancelled: string[] = [];
  readonly gates: (() => void)[] = [];

  override startTransaction(context: TransactionContext): Promise<void> | void {
    const asked = text(context.logData);
    if (asked === 'refuse') context.exception = new RangeError('refused');
    if (asked === 'throw') throw new RangeError('thrown');
    if (asked === 'slow start') return new Promise((resolve) => setTimeout(resolve, 30));
  }

  override preAppendTransaction(context: TransactionContext): void {
    if (text(context.logData) === 'pre-append') {
      throw new StateMachineException(undefined, 'Error', 'not now', {
        leaderShouldStepDown: false,
      });
    }
  }

  override cancelTransaction(context: TransactionContext): void {
    this.cancelled.push(text(context.logData));
  }

  override applyTransaction(context: TransactionContext) {
    const asked = text(context.logData);
    if (asked === 'reject') return Promise.reject(new RangeError('rejected'));
    if (asked === 'fatal') throw new TypeError('fatal');
    if (asked === 'gated') {
      return new Promise<Uint8Array>((resolve) => {
        this.gates.push(() => resolve(bytes('opened')));
      });
    }
    return super.applyTransaction(context);
  }
}

function start(options = {}, servers = 1): Promise<MiniCluster> {
  return MiniCluster.start({ servers, stateMachine: () => new FaultyStateMachine(), options });
}

function machineOf(cluster: MiniCluster, id = 'n0'): FaultyStateMachine {
  return cluster.division(id).stateMachine as FaultyStateMachine;
}

function causeOf(exception: RaftException | undefined): [string, string] {
  assert.ok(exception instanceof StateMachineException, String(exception));
  return [exception.causeClass, exception.causeMessage];
}

test('a refused transaction is a reply, is cancelled and can be tried again', async () => {
  await using cluster = await start();
  const request = cluster.request(bytes('refuse'));
  const leader = await cluster.waitForLeader();
  for (let i = 0; i < 2; i++) {
    const reply = await leader.submitClientRequest(request);
    assert.deepEqual(causeOf(reply.exception), ['RangeError', 'refused']);
  }
  assert.deepEqual(machineOf(cluster).cancelled, ['refuse', 'refuse']);
});

test('H-30: a throw of startTransaction ends the call, and a retry is not stuck', async () => {
  await using cluster = await start();
  const leader = await cluster.waitForLeader();
  const request = cluster.request(bytes('throw'));
  await assert.rejects(leader.submitClientRequest(request), { message: 'thrown' });
  await assert.rejects(leader.submitClientRequest(request), { message: 'thrown' });
});

test('a write that waits for its start is not carried out when its stream has ended', async () => {
  await using cluster = await start();
  const leader = await cluster.waitForLeader();
  const request = cluster.request(bytes('slow start'));
  const sink = { isAbandoned: false };
  const outcome = new Promise((onReply, onFailure) => {
    leader.submit(request, Object.assign(sink, { onReply, onFailure }));
  });
  sink.isAbandoned = true;
  await assert.rejects(outcome, AlreadyClosedException);
  assert.deepEqual(machineOf(cluster).applied, []);
  assert.equal((await leader.submitClientRequest(request)).success, true);
});

test('H-8: permits of refused writes come back', async () => {
  await using cluster = await start({ 'raft.server.write.element-limit': 2 });
  const leader = await cluster.waitForLeader();
  for (let i = 0; i < 5; i++) {
    const reply = await leader.submitClientRequest(cluster.request(bytes('pre-append')));
    assert.deepEqual(causeOf(reply.exception), ['Error', 'not now']);
  }
  assert.equal((await cluster.write(bytes('a'))).success, true);
});

test('an apply that rejects is the reply of the write, and later writes go on', async () => {
  await using cluster = await start({}, 3);
  const reply = await cluster.write(bytes('reject'));
  assert.deepEqual(causeOf(reply.exception), ['RangeError', 'rejected']);
  assert.ok(reply.logIndex > 0);
  assert.equal(text((await cluster.write(bytes('a'))).message), '1');
});

test('a synchronous throw of applyTransaction closes its division', async () => {
  await using cluster = await start();
  const leader = await cluster.waitForLeader();
  const reply = await leader.submitClientRequest(cluster.request(bytes('fatal')));
  assert.equal(reply.success, false);
  await eventually('the division closes', () => leader.lifeCycleState === 'CLOSED');
  assert.match(leader.failure?.message ?? '', /fatal/);
  await assert.rejects(
    leader.submitClientRequest(cluster.request(bytes('a'))),
    ServerNotReadyException,
  );
});

test('pending writes above the limit are refused, and those below are served', async () => {
  await using cluster = await start({ 'raft.server.write.element-limit': 3 });
  const leader = await cluster.waitForLeader();
  const gated = [1, 2, 3].map(() => leader.submitClientRequest(cluster.request(bytes('gated'))));
  await eventually('all are applied', () => machineOf(cluster).gates.length === 3);
  await assert.rejects(
    leader.submitClientRequest(cluster.request(bytes('a'))),
    ResourceUnavailableException,
  );
  for (const open of machineOf(cluster).gates) open();
  for (const reply of await Promise.all(gated)) assert.equal(text(reply.message), 'opened');
  assert.equal((await cluster.write(bytes('a'))).success, true);
});

test('H-4: a read waits for earlier applies that are still under way', async () => {
  await using cluster = await start();
  const leader = await cluster.waitForLeader();
  const gated = leader.submitClientRequest(cluster.request(bytes('gated')));
  await cluster.write(bytes('later'));
  let done = false;
  const read = cluster.read(bytes('all')).then((reply) => {
    done = true;
    return reply;
  });
  await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(done, false);
  for (const open of machineOf(cluster).gates) open();
  await gated;
  assert.equal(text((await read).message), 'later');
});

test('H-29: an oversized write is refused without a change of leader', async () => {
  await using cluster = await start({
    'raft.server.log.appender.buffer.byte-limit': 1024 * 1024,
  });
  const leader = await cluster.waitForLeader();
  const term = leader.currentTerm;
  const reply = await leader.submitClientRequest(cluster.request(new Uint8Array(1024 * 1024)));
  assert.ok(reply.exception instanceof StateMachineException);
  assert.equal((await cluster.write(bytes('a'))).success, true);
  assert.equal(leader.currentTerm, term);
  assert.equal(machineOf(cluster).cancelled.length, 1);
});

test('writes of one client stay in order when transactions start slowly', async () => {
  await using cluster = await start();
  const leader = await cluster.waitForLeader();
  const texts = ['slow start', 'a', 'slow start', 'b'];
  await Promise.all(texts.map((one) => leader.submitClientRequest(cluster.request(bytes(one)))));
  assert.deepEqual(machineOf(cluster).applied, texts);
});

test('a server that closes answers what is pending with NotLeader, naming nobody', async () => {
  await using cluster = await start({}, 3);
  const leader = await cluster.waitForLeader();
  cluster.isolate(cluster.idOf(leader));
  const pending = leader.submitClientRequest(cluster.request(bytes('a')));
  await leader.close();
  const reply = await pending;
  assert.ok(reply.exception instanceof NotLeaderException);
  assert.equal(reply.exception.suggestedLeader, undefined);
  assert.deepEqual(reply.exception.peers, []);
});

test('a follower names the leader, and serves linearizable reads itself', async () => {
  await using cluster = await start({}, 3);
  await cluster.write(bytes('a'));
  const leaderId = cluster.idOf(await cluster.waitForLeader());
  const follower = cluster.peers.find((peer) => peer.id !== leaderId)?.id ?? '';
  const refused = await cluster.division(follower).submitClientRequest(cluster.request(bytes('b')));
  assert.ok(refused.exception instanceof NotLeaderException);
  assert.equal(refused.exception.suggestedLeader?.id, leaderId);
  assert.equal(refused.exception.peers.length, 3);
  assert.equal(text((await cluster.read(bytes('all'), follower)).message), 'a');
});

test('watches are answered when their level is reached, and time out otherwise', async () => {
  await using cluster = await start(
    { 'raft.server.watch.timeout': 200, 'raft.server.watch.timeout.denomination': 100 },
    3,
  );
  const written = await cluster.write(bytes('a'));
  const leader = await cluster.waitForLeader();
  const watch = (index: number, replication: RequestType & { kind: 'watch' }) =>
    leader.submitClientRequest(cluster.request(new Uint8Array(0), {}, { ...replication, index }));
  for (const replication of Object.values(ReplicationLevel)) {
    const reply = await watch(written.logIndex, { kind: 'watch', index: 0, replication });
    assert.equal(reply.success, true, `level ${replication}`);
    assert.ok(reply.logIndex >= written.logIndex);
  }
  const late = await watch(1_000_000, { kind: 'watch', index: 0, replication: 0 });
  assert.ok(late.exception instanceof NotReplicatedException);
});

test('the dummy watch is answered at once by any server', async () => {
  await using cluster = await start({}, 3);
  const type: RequestType = { kind: 'watch', index: 0, replication: 0 };
  for (const division of cluster.divisions()) {
    const reply = await division.submitClientRequest(cluster.request(DUMMY_CONTENT, {}, type));
    assert.equal(reply.success, false);
    assert.equal(reply.exception, undefined);
  }
});

test('a write can wait for all servers', async () => {
  await using cluster = await start({}, 3);
  const leader = await cluster.waitForLeader();
  const reply = await leader.submitClientRequest(
    cluster.request(bytes('a'), {}, { kind: 'write', replication: ReplicationLevel.ALL_COMMITTED }),
  );
  assert.equal(reply.success, true);
  for (const division of cluster.divisions()) {
    assert.ok(division.commitIndex >= reply.logIndex);
  }
});

test('a message stream becomes one write', async () => {
  await using cluster = await start();
  const leader = await cluster.waitForLeader();
  const send = (message: string, messageId: number, endOfRequest: boolean) =>
    leader.submitClientRequest(
      cluster.request(
        bytes(message),
        {},
        {
          kind: 'messageStream',
          streamId: 1,
          messageId,
          endOfRequest,
        },
      ),
    );
  assert.equal((await send('ab', 0, false)).success, true);
  assert.equal((await send('cd', 1, false)).success, true);
  await assert.rejects(send('xx', 3, false), { code: 'RAFT_STREAM' });
  assert.equal(text((await send('ef', 2, true)).message), '1');
  assert.deepEqual(machineOf(cluster).applied, ['abcdef']);
});

test('two groups with machines of their own live side by side', async () => {
  await using cluster = await MiniCluster.start({
    groups: 2,
    stateMachine: () => new FaultyStateMachine(),
  });
  const [first, second] = cluster.groups;
  assert.ok(first !== undefined && second !== undefined);
  const a = await cluster.waitForLeader(first);
  const b = await cluster.waitForLeader(second);
  await a.submitClientRequest(cluster.request(bytes('a'), { groupId: first.groupId }));
  await b.submitClientRequest(cluster.request(bytes('b'), { groupId: second.groupId }));
  await cluster.waitForAgreement(first);
  await cluster.waitForAgreement(second);
  const fatal = cluster.request(bytes('fatal'), { groupId: first.groupId });
  await a.submitClientRequest(fatal);
  await eventually('the first group fails', () => a.lifeCycleState === 'CLOSED');
  const again = await cluster.waitForLeader(second);
  const reply = await again.submitClientRequest(
    cluster.request(bytes('c'), { groupId: second.groupId }),
  );
  assert.equal(text(reply.message), '2');
});
