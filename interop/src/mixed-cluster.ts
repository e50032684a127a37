import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createGroup, createPeer, findPeer, type RaftGroup, RaftGroupId } from 'kontiki';
import { findFreePorts } from 'kontiki/testing';
import { makeCertificates, type PeerTls } from './certificates.js';
import { type LabClient, openClient } from './clients.js';
import {
  createMember,
  type LogLine,
  type Member,
  type MemberInfo,
  type MemberKind,
  type MemberOptions,
  ProcessMember,
} from './members.js';

/** Time-outs that a busy machine with two cores bears, for servers of both kinds. */
const PROPERTIES: Readonly<Record<string, string>> = {
  'raft.server.rpc.timeout.min': '700ms',
  'raft.server.rpc.timeout.max': '1000ms',
  'raft.server.rpc.first-election.timeout.min': '500ms',
  'raft.server.rpc.first-election.timeout.max': '1000ms',
  'raft.server.rpc.request.timeout': '3s',
  'raft.server.log.segment.size.max': '64KB',
  'raft.server.log.preallocated.size': '16KB',
  'raft.server.read.option': 'LINEARIZABLE',
};

const SLOW_TO_VOTE: Readonly<Record<string, string>> = {
  'raft.server.rpc.timeout.min': '1100ms',
  'raft.server.rpc.timeout.max': '1600ms',
  'raft.server.rpc.first-election.timeout.min': '2500ms',
  'raft.server.rpc.first-election.timeout.max': '3000ms',
};

const NEVER_A_CANDIDATE: Readonly<Record<string, string>> = {
  'raft.server.rpc.timeout.min': '10min',
  'raft.server.rpc.timeout.max': '11min',
  'raft.server.rpc.first-election.timeout.min': '10min',
  'raft.server.rpc.first-election.timeout.max': '11min',
};

export interface ClusterOptions {
  /** One member each: m0, m1 ... */
  readonly kinds: readonly MemberKind[];
  readonly tls?: boolean;
  /** Own ports for clients and administration. */
  readonly separatePorts?: boolean;
  readonly properties?: Readonly<Record<string, string>>;
  /** Members of this kind are quicker to ask for votes, so that they win elections. */
  readonly favoured?: MemberKind;
  /** Kontiki members have processes of their own, so that they can be killed like Java's. */
  readonly ownProcesses?: boolean;
}

const WAIT_MS = 60_000;
const POLL_MS = 50;

/** Servers of both kinds in one group. */
export class MixedCluster {
  readonly group: RaftGroup;
  readonly directory: string;
  readonly members = new Map<string, Member>();
  readonly #certificates: ReadonlyMap<string, PeerTls>;
  readonly #properties = new Map<string, Readonly<Record<string, string>>>();
  readonly #clients: LabClient[] = [];
  readonly #ownProcesses: boolean;

  private constructor(
    options: ClusterOptions,
    ports: readonly number[],
    directory: string,
    certificates: ReadonlyMap<string, PeerTls>,
  ) {
    this.directory = directory;
    this.#certificates = certificates;
    this.#ownProcesses = options.ownProcesses ?? false;
    const address = (n: number) => `127.0.0.1:${ports[n] ?? 0}`;
    const size = options.kinds.length;
    const peers = options.kinds.map((_, i) =>
      createPeer({
        id: `m${i}`,
        address: address(i),
        ...(options.separatePorts === true
          ? { clientAddress: address(size + i), adminAddress: address(2 * size + i) }
          : {}),
      }),
    );
    this.group = createGroup(RaftGroupId.parse(randomUUID()), peers);
    peers.forEach((peer, i) => {
      const kind = options.kinds[i] ?? 'kontiki';
      const slow = options.favoured !== undefined && kind !== options.favoured;
      this.#properties.set(peer.id, {
        ...PROPERTIES,
        ...(slow ? SLOW_TO_VOTE : {}),
        ...options.properties,
      });
      this.members.set(peer.id, this.memberOn(kind, peer.id));
    });
  }

  /** A member of the given kind, not started, with the name and the directory of another. */
  memberOn(kind: MemberKind, id: string): Member {
    return createMember(kind, this.#optionsOf(id), this.#ownProcesses);
  }

  #optionsOf(id: string): MemberOptions {
    const peer = findPeer(this.group, id);
    if (peer === undefined) throw new Error(`there is no member ${id}`);
    return {
      peer,
      group: this.group,
      storage: join(this.directory, id),
      tls: this.#certificates.get(id),
      properties: this.#properties.get(id) ?? PROPERTIES,
    };
  }

  /** Has another kind serve the directory of a member that does not run. */
  async changeHands(id: string, kind: MemberKind): Promise<Member> {
    if (this.member(id).isRunning) throw new Error(`${id} runs`);
    const member = this.memberOn(kind, id);
    await member.start();
    this.members.set(id, member);
    return member;
  }

  /** The entries in the directory of a member that does not run, as Java reads them. */
  async readLog(id: string): Promise<readonly LogLine[]> {
    const reader = new ProcessMember('java', {
      ...this.#optionsOf(id),
      // Alone, it never becomes a leader that appends.
      properties: { ...PROPERTIES, ...NEVER_A_CANDIDATE },
    });
    await reader.start();
    try {
      return await reader.log();
    } finally {
      await reader.kill();
    }
  }

  static async start(options: ClusterOptions): Promise<MixedCluster> {
    const directory = mkdtempSync(join(tmpdir(), 'kontiki-interop-'));
    const ids = options.kinds.map((_, i) => `m${i}`);
    const certificates =
      options.tls === true
        ? makeCertificates(join(directory, 'tls'), [...ids, 'client'])
        : new Map<string, PeerTls>();
    const ports = await findFreePorts(3 * ids.length);
    const cluster = new MixedCluster(options, ports, directory, certificates);
    try {
      await Promise.all([...cluster.members.values()].map((member) => member.start()));
    } catch (error) {
      await cluster.close();
      throw error;
    }
    return cluster;
  }

  member(id: string): Member {
    const member = this.members.get(id);
    if (member === undefined) throw new Error(`there is no member ${id}`);
    return member;
  }

  get running(): readonly string[] {
    return [...this.members].filter(([, member]) => member.isRunning).map(([id]) => id);
  }

  async client(kind: MemberKind, leader?: string): Promise<LabClient> {
    const client = await openClient(kind, {
      group: this.group,
      tls: this.#certificates.get('client'),
      ...(leader === undefined ? {} : { leader }),
    });
    this.#clients.push(client);
    return client;
  }

  async infos(): Promise<ReadonlyMap<string, MemberInfo>> {
    const ids = this.running;
    const infos = await Promise.all(ids.map((id) => this.member(id).info()));
    return new Map(ids.map((id, i) => [id, infos[i] as MemberInfo]));
  }

  /** Waits for a leader that serves, and that the other running members follow. */
  waitForLeader(): Promise<string> {
    return this.waitFor('a leader that all follow', (infos) => {
      const term = Math.max(...[...infos.values()].map((info) => info.term));
      const found = [...infos].find(([, info]) => info.ready && info.term === term);
      const followed = [...infos.values()].every((info) => info.leader === found?.[0]);
      return followed ? found?.[0] : undefined;
    });
  }

  /** Waits until all running members have applied the same; gives the state of all. */
  waitForAgreement(): Promise<MemberInfo> {
    return this.waitFor('members that agree', (infos) => {
      const all = [...infos.values()];
      const commit = Math.max(...all.map((info) => info.commit));
      const first = all[0];
      const same = (info: MemberInfo) =>
        info.applied === commit &&
        info.value === first?.value &&
        info.records.join() === first.records.join();
      return all.every(same) ? first : undefined;
    });
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()));
    // An orderly stop takes a Java server seconds, and the files are deleted all the same.
    await Promise.all([...this.members.values()].map((member) => member.kill()));
    rmSync(this.directory, { recursive: true, force: true });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Waits until `condition` gives something for what the running members say. */
  async waitFor<T>(
    what: string,
    condition: (infos: ReadonlyMap<string, MemberInfo>) => T | undefined,
  ): Promise<T> {
    const until = performance.now() + WAIT_MS;
    for (;;) {
      const infos = await this.infos();
      const value = condition(infos);
      if (value !== undefined) return value;
      if (performance.now() > until) {
        const seen = [...infos].map(([id, info]) => `${id}: ${JSON.stringify(info)}`);
        throw new Error(`no ${what} within ${WAIT_MS} ms:\n${seen.join('\n').slice(0, 4000)}`);
      }
      await sleep(POLL_MS);
    }
  }
}
