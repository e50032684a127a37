import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import type { LabClient } from './clients.js';
import type { MemberKind } from './members.js';
import { MixedCluster } from './mixed-cluster.js';
import { PeerCallError } from './peer-error.js';

interface Way {
  readonly client: MemberKind;
  readonly servers: MemberKind;
  readonly tls: boolean;
  readonly separatePorts?: boolean;
}

const WAYS: readonly Way[] = [
  { client: 'java', servers: 'kontiki', tls: false },
  { client: 'java', servers: 'kontiki', tls: true, separatePorts: true },
  { client: 'kontiki', servers: 'java', tls: false },
  { client: 'kontiki', servers: 'java', tls: true, separatePorts: true },
];

async function failureOf(call: Promise<unknown>): Promise<PeerCallError> {
  try {
    await call;
  } catch (error) {
    assert.ok(error instanceof PeerCallError, String(error));
    return error;
  }
  assert.fail('the call succeeded');
}

for (const way of WAYS) {
  const security = way.tls ? 'mutual TLS, own client and admin ports' : 'plain text';
  describe(`${way.client} client, ${way.servers} servers, ${security}`, () => {
    let cluster: MixedCluster;
    let client: LabClient;
    let leader: string;
    let follower: string;

    before(async () => {
      cluster = await MixedCluster.start({
        kinds: [way.servers, way.servers, way.servers],
        tls: way.tls,
        separatePorts: way.separatePorts ?? false,
      });
      leader = await cluster.waitForLeader();
      follower = cluster.running.find((id) => id !== leader) ?? '';
      client = await cluster.client(way.client);
    });

    after(() => cluster.close());

    it('ordered writes are carried out in their order', async () => {
      const answers = await client.sendMany('w', 200);
      assert.deepEqual(
        answers,
        Array.from({ length: 200 }, (_, i) => String(i + 1)),
      );
    });

    it('blocking writes and ordered writes count together', async () => {
      assert.equal((await client.call('ioSend', { text: 'INCREMENT' })).text, '1');
      const reply = await client.call('send', { text: 'INCREMENT' });
      assert.equal(reply.text, '2');
      assert.equal(reply.server, leader);
      assert.ok(reply.index > 200);
      assert.deepEqual(
        reply.commits.map(({ id }) => id).sort(),
        cluster.running.slice().sort(),
        'commit infos of all servers',
      );
    });

    for (const level of ['MAJORITY', 'ALL', 'MAJORITY_COMMITTED', 'ALL_COMMITTED']) {
      it(`a write waits for ${level}`, async () => {
        const reply = await client.call('send', { text: `level ${level}`, level });
        assert.ok(reply.success);
      });
    }

    for (const op of [
      'read',
      'readAfterWrite',
      'readNonLinearizable',
      'readUnordered',
      'ioRead',
      'ioReadAfterWrite',
      'ioReadNonLinearizable',
    ]) {
      it(`${op} sees what was written`, async () => {
        const expected = (await client.call('send', { text: 'INCREMENT' })).text;
        assert.equal((await client.call(op, { text: 'GET' })).text, expected);
      });
    }

    for (const op of ['read', 'readUnordered', 'ioRead']) {
      it(`${op} at a follower sees what was written (ReadIndex)`, async () => {
        const expected = (await client.call('send', { text: 'INCREMENT' })).text;
        const reply = await client.call(op, { text: 'GET', server: follower });
        assert.equal(reply.text, expected);
        assert.equal(reply.server, follower);
      });
    }

    for (const op of ['staleRead', 'ioStaleRead']) {
      it(`${op} at a follower sees what it asks for`, async () => {
        const { index, text } = await client.call('send', {
          text: 'INCREMENT',
          level: 'ALL_COMMITTED',
        });
        const reply = await client.call(op, { text: 'GET', index, server: follower });
        assert.equal(reply.text, text);
      });

      it(`${op} fails when the server has not come so far`, async () => {
        const failure = await failureOf(
          client.call(op, { text: 'GET', index: 1_000_000, server: follower }),
        );
        assert.equal(failure.type, 'StateMachineException');
        assert.match(failure.message, /StaleReadException/);
      });
    }

    for (const op of ['watch', 'ioWatch']) {
      it(`${op} tells when a write has come to all`, async () => {
        const { index } = await client.call('send', { text: 'INCREMENT' });
        for (const level of ['MAJORITY', 'ALL', 'MAJORITY_COMMITTED', 'ALL_COMMITTED']) {
          const reply = await client.call(op, { index, level });
          assert.ok(reply.index >= index, `${level}: ${reply.index} < ${index}`);
        }
      });
    }

    it('a message goes in parts and is applied as one', async () => {
      const whole = 'part,'.repeat(40);
      assert.ok((await client.call('stream', { text: whole, pieceBytes: 16 })).success);
      const list = (await client.call('read', { text: 'LIST' })).text ?? '';
      assert.equal(list.split('\n').at(-1), whole);
    });

    it('data beside the log comes to all servers', async () => {
      const data = 'd'.repeat(20_000);
      assert.ok(
        (await client.call('send', { text: `DATA:${data}`, level: 'ALL_COMMITTED' })).success,
      );
      const list = (await client.call('read', { text: 'LIST', server: follower })).text ?? '';
      assert.equal(list.split('\n').at(-1), `DATA:${data}`);
    });

    for (const op of ['send', 'ioSend']) {
      it(`${op}: a failure when applied comes as StateMachineException`, async () => {
        const failure = await failureOf(client.call(op, { text: 'FAIL' }));
        assert.equal(failure.type, 'StateMachineException');
        assert.match(failure.message, /IllegalStateException.*failed when applied/);
      });

      it(`${op}: a refusal before the log comes as StateMachineException`, async () => {
        const failure = await failureOf(client.call(op, { text: 'REJECT' }));
        assert.equal(failure.type, 'StateMachineException');
        assert.match(failure.message, /IllegalArgumentException.*rejected before the log/);
      });
    }

    for (const op of ['read', 'ioRead']) {
      it(`${op}: a failing query comes as StateMachineException`, async () => {
        const failure = await failureOf(client.call(op, { text: 'WHAT' }));
        assert.equal(failure.type, 'StateMachineException');
        assert.match(failure.message, /unknown query WHAT/);
      });
    }

    it('a client that first asks a follower finds the leader', async () => {
      const other = await cluster.client(way.client, follower);
      assert.equal((await other.call('send', { text: 'from elsewhere' })).server, leader);
      assert.equal((await other.call('ioSend', { text: 'from elsewhere' })).server, leader);
    });

    it('groups are listed and described', async () => {
      assert.deepEqual(await client.groupList(follower), [cluster.group.groupId.uuid]);
      const atLeader = await client.groupInfo(leader);
      assert.equal(atLeader.role, 'LEADER');
      assert.equal(atLeader.self, leader);
      assert.ok(atLeader.healthy);
      assert.equal(atLeader.peers.length, 3);
      assert.deepEqual(
        atLeader.followers.map(({ id }) => id).sort(),
        cluster.running.filter((id) => id !== leader).sort(),
      );
      assert.ok(atLeader.committed > 0 && atLeader.lastEntry >= atLeader.committed);
      const atFollower = await client.groupInfo(follower);
      assert.equal(atFollower.role, 'FOLLOWER');
      assert.equal(atFollower.leader, leader);
    });

    it('a snapshot is taken on demand', async () => {
      const reply = await client.call('snapshot', { server: follower });
      assert.ok(reply.index > 0);
    });

    it('writes go on when the leader is killed, and all servers agree', async () => {
      const before = (await cluster.waitForAgreement()).records.length;
      const writes = client.sendMany('k', 300);
      await cluster.member(leader).kill();
      assert.equal((await writes).length, 300);
      assert.ok((await client.call('ioSend', { text: 'after' })).success);
      await cluster.member(leader).start();
      const { records } = await cluster.waitForAgreement();
      assert.deepEqual(
        records.slice(before),
        [...Array.from({ length: 300 }, (_, i) => `k${i}`), 'after'],
        'each write once and in order',
      );
    });
  });
}
