import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { LabClient } from './clients.js';
import type { MemberKind } from './members.js';
import { MixedCluster } from './mixed-cluster.js';

interface Mixture {
  readonly kinds: readonly MemberKind[];
  /** The kind of which there is one. */
  readonly single: MemberKind;
  readonly tls: boolean;
}

const MIXTURES: readonly Mixture[] = [
  { kinds: ['kontiki', 'kontiki', 'java'], single: 'java', tls: false },
  { kinds: ['kontiki', 'java', 'java'], single: 'kontiki', tls: true },
];

/** Writes in batches until it is stopped; every write must be acknowledged. */
class Writer {
  readonly acknowledged: string[] = [];
  readonly #done: Promise<void>;
  #stopped = false;

  constructor(client: LabClient, name: string) {
    this.#done = this.#run(client, name);
    this.#done.catch(() => undefined);
  }

  stop(): Promise<void> {
    this.#stopped = true;
    return this.#done;
  }

  async #run(client: LabClient, name: string): Promise<void> {
    for (let batch = 0; !this.#stopped; batch++) {
      const prefix = `${name}-${batch}-`;
      const answers = await client.sendMany(prefix, 20);
      answers.forEach((answer, i) => {
        assert.match(answer, /^\d+$/);
        this.acknowledged.push(`${prefix}${i}`);
      });
      await sleep(20);
    }
  }
}

/** All members in order stop; then Java reads the same entries in every directory. */
async function assertEqualLogs(cluster: MixedCluster): Promise<void> {
  const ids = [...cluster.members.keys()];
  for (const id of ids) await cluster.member(id).stop();
  const logs = [];
  for (const id of ids) logs.push(await cluster.readLog(id));
  const shortest = Math.min(...logs.map((log) => log.length));
  assert.ok(shortest > 10);
  for (const log of logs) assert.deepEqual(log.slice(0, shortest), logs[0]?.slice(0, shortest));
}

for (const { kinds, single, tls } of MIXTURES) {
  describe(`a group of ${kinds.join(', ')}${tls ? ' with mutual TLS' : ''}`, () => {
    it('elects both kinds; no write is lost or repeated when leaders are killed', async () => {
      await using cluster = await MixedCluster.start({
        kinds,
        tls,
        favoured: single,
        ownProcesses: true,
      });
      const led = new Set<MemberKind>();
      let leader = await cluster.waitForLeader();
      const writers = [
        new Writer(await cluster.client('kontiki'), 'k'),
        new Writer(await cluster.client('java'), 'j'),
      ];
      for (let round = 0; round < 6; round++) {
        led.add(cluster.member(leader).kind);
        await sleep(500);
        await cluster.member(leader).kill();
        const next = await cluster.waitForLeader();
        await sleep(300);
        await cluster.member(leader).start();
        leader = next;
      }
      for (const writer of writers) await writer.stop();
      const { records } = await cluster.waitForAgreement();
      assert.deepEqual([...led].sort(), ['java', 'kontiki']);
      for (const [i, name] of ['k', 'j'].entries()) {
        const own = records.filter((record) => record.startsWith(`${name}-`));
        assert.ok(own.length > 20);
        assert.deepEqual(own, writers[i]?.acknowledged);
      }
      await assertEqualLogs(cluster);
    });

    it('a leader that comes back drops entries that nobody else has', async () => {
      await using cluster = await MixedCluster.start({ kinds, tls, favoured: single });
      const old = await cluster.waitForLeader();
      assert.equal(cluster.member(old).kind, single);
      const client = await cluster.client('kontiki', old);
      await client.sendMany('kept', 50);
      const { lastIndex } = await cluster.waitForAgreement();
      const others = cluster.running.filter((id) => id !== old);
      await Promise.all(others.map((id) => cluster.member(id).kill()));
      const lost = await cluster.client('kontiki', old);
      const writes = Promise.allSettled([lost.sendMany('lost', 30)]);
      await cluster.waitFor('entries at the old leader', (infos) => {
        return (infos.get(old)?.lastIndex ?? 0) >= lastIndex + 30 || undefined;
      });
      await lost.close();
      await writes;
      await cluster.member(old).kill();
      await Promise.all(others.map((id) => cluster.member(id).start()));
      await client.sendMany('new', 50);
      await cluster.member(old).start();
      await client.sendMany('last', 5);
      const { records } = await cluster.waitForAgreement();
      assert.equal(records.length, 105);
      assert.ok(!records.some((record) => record.startsWith('lost')));
      await assertEqualLogs(cluster);
    });

    for (const kind of ['java', 'kontiki'] as const) {
      it(`a ${kind} leader serves reads at followers, watches, data beside the log`, async () => {
        await using cluster = await MixedCluster.start({ kinds, tls, favoured: kind });
        const leader = await cluster.waitForLeader();
        assert.equal(cluster.member(leader).kind, kind);
        for (const clientKind of ['kontiki', 'java'] as const) {
          const client = await cluster.client(clientKind);
          const data = clientKind.repeat(3000);
          const { index } = await client.call('send', { text: `DATA:${data}` });
          const { text } = await client.call('send', { text: 'INCREMENT' });
          for (const server of cluster.running) {
            assert.equal((await client.call('read', { text: 'GET', server })).text, text);
          }
          const watched = await client.call('watch', { index, level: 'ALL_COMMITTED' });
          assert.ok(watched.index >= index);
          const { records } = await cluster.waitForAgreement();
          assert.equal(records.at(-1), `DATA:${data}`);
        }
      });
    }
  });
}
