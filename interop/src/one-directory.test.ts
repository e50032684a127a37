import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { MemberKind } from './members.js';
import { MixedCluster } from './mixed-cluster.js';

const other = (kind: MemberKind): MemberKind => (kind === 'java' ? 'kontiki' : 'java');

describe('one directory, two readers', () => {
  it('changes hands ten times, with rolled segments, snapshots and crashes', async () => {
    await using cluster = await MixedCluster.start({ kinds: ['java'], ownProcesses: true });
    let kind: MemberKind = 'java';
    let expected: string[] = [];
    for (let change = 0; change <= 10; change++) {
      await cluster.waitForLeader();
      // What was on its way when the server was killed is there from the first to some last one.
      const found = (await cluster.waitForAgreement()).records;
      const flown = found.slice(expected.length);
      assert.deepEqual(found.slice(0, expected.length), expected);
      assert.deepEqual(
        flown,
        flown.map((_, i) => `flying ${change - 1} ${i}`),
      );
      expected = [...found];
      const client = await cluster.client(other(kind));
      assert.equal((await client.call('send', { text: 'INCREMENT' })).text, String(change + 1));
      const filler = 'x'.repeat(200);
      await client.sendMany(`${change}${filler}`, 400);
      await client.call('send', { text: `DATA:${change}${filler}` });
      expected = [
        ...expected,
        ...Array.from({ length: 400 }, (_, i) => `${change}${filler}${i}`),
        `DATA:${change}${filler}`,
      ];
      if (change % 4 === 2) await client.call('snapshot', { server: 'm0' });
      const { records, value } = await cluster.waitForAgreement();
      assert.equal(value, change + 1);
      assert.deepEqual(records, expected);
      if (change % 3 === 1) {
        const flying = Promise.allSettled([client.sendMany(`flying ${change} `, 1000)]);
        await cluster.waitFor('writes on their way', (infos) => {
          return (infos.get('m0')?.records.length ?? 0) > expected.length + 10 || undefined;
        });
        await cluster.member('m0').kill();
        await client.close();
        await flying;
      } else {
        await client.close();
        await cluster.member('m0').stop();
      }
      kind = other(kind);
      if (change < 10) await cluster.changeHands('m0', kind);
    }
  });

  for (const holder of ['java', 'kontiki'] as const) {
    it(`a directory that ${holder} has open cannot be opened by the other`, async () => {
      await using cluster = await MixedCluster.start({ kinds: [holder] });
      await cluster.waitForLeader();
      const intruder = cluster.memberOn(other(holder), 'm0');
      await assert.rejects(intruder.start(), /lock/i);
      const client = await cluster.client('kontiki');
      assert.ok((await client.call('send', { text: 'still served' })).success);
    });
  }

  it('the members of a group change hands one after the other', async () => {
    await using cluster = await MixedCluster.start({ kinds: ['java', 'java', 'java'] });
    await cluster.waitForLeader();
    const client = await cluster.client('kontiki');
    let written = 0;
    for (const kind of ['kontiki', 'java'] as const) {
      for (const id of ['m0', 'm1', 'm2']) {
        await client.sendMany(`${kind}-${id}-`, 50);
        await cluster.member(id).stop();
        await client.sendMany(`without ${kind}-${id}-`, 50);
        await cluster.changeHands(id, kind);
        written += 100;
        assert.equal((await cluster.waitForAgreement()).records.length, written);
      }
    }
  });
});
