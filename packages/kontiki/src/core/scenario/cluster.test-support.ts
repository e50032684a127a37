import { EntryKind } from '../../proto/wire/types.js';
import {
  allPeers,
  createConfiguration,
  type PeerSet,
  type RaftConfiguration,
} from '../../protocol/configuration.js';
import { createPeer, type RaftPeer, RaftPeerRole } from '../../protocol/peer.js';
import type { EngineCommand, EngineConfig, SetConfigurationRequest } from '../types.js';
import { SeededRandom, TEST_CONFIG } from './config.test-support.js';
import type { MetadataWrite, SimEntry } from './disk.test-support.js';
import { Invariants } from './invariants.test-support.js';
import type { Message } from './messages.test-support.js';
import { type NodeHost, SimNode } from './node.test-support.js';

/** A cluster under random faults: everything that happens follows from the seed. */
export class RandomCluster implements NodeHost {
  nowMs = 0;
  readonly nodes = new Map<string, SimNode>();
  readonly invariants = new Invariants(this.nodes);
  readonly events: string[] = [];
  private readonly random: SeededRandom;
  private readonly channels = new Map<string, Message[]>();
  private readonly cut = new Set<string>();
  private proposed = 0;
  private voteNumber = 0;
  private calm = false;
  private readonly allowsMajorityAdd: boolean;
  readsConfirmed = 0;
  leadersSeen = 0;
  changesDone = 0;
  transfersDone = 0;

  constructor(seed: number) {
    this.random = new SeededRandom(seed);
    const { random } = this;
    const config = this.drawConfig();
    this.allowsMajorityAdd = config.memberMajorityAdd;
    const joint = random.chance(0.3);
    const peers = this.drawPeers(joint ? 3 : 1, random.chance(0.3));
    const initial = initialOf(joint ? withoutLastVoter(peers) : peers);
    const batchMax = 1 + random.below(4);
    for (const { id } of peers) {
      const own = new SeededRandom(random.nextUint32());
      this.nodes.set(id, new SimNode({ id, initial, config, random: own, host: this, batchMax }));
    }
    this.addStrangers(config, batchMax);
    if (joint) this.preload(initial, peers);
    for (const node of this.nodes.values()) {
      node.holdFlush = true;
      node.holdMetadata = true;
      node.holdApply = true;
      node.start();
    }
  }

  /** Servers that know of no group: they wait until a leader adds them. */
  private addStrangers(config: EngineConfig, batchMax: number): void {
    const { random } = this;
    const initial = createConfiguration({ voters: [], listeners: [] }, undefined, -1);
    for (let i = random.below(3); i > 0; i--) {
      const own = new SeededRandom(random.nextUint32());
      const id = `s${i}`;
      this.nodes.set(id, new SimNode({ id, initial, config, random: own, host: this, batchMax }));
    }
  }

  private drawConfig(): EngineConfig {
    const { random } = this;
    return {
      ...TEST_CONFIG,
      preVote: random.chance(0.8),
      composeEnabled: random.chance(0.4),
      outstandingAppendsMax: 1 + random.below(5),
      logMetadataEnabled: random.chance(0.7),
      stepDownWaitTimeMs: 400,
      rpcRequestTimeoutMs: 500,
      stagingCatchupGap: random.chance(0.5) ? 2 : 1000,
      memberMajorityAdd: random.chance(0.3),
      appenderRetryPauses: [
        [1, 10],
        [20, 20],
      ],
    };
  }

  private drawPeers(votersMin: number, priorities: boolean): RaftPeer[] {
    const { random } = this;
    const voters = votersMin + random.below(6 - votersMin);
    const listeners = random.below(2);
    return Array.from({ length: voters + listeners }, (_, i) =>
      createPeer({
        id: `n${i + 1}`,
        address: `h:${i}`,
        priority: priorities ? random.below(3) : 0,
        startupRole: i < voters ? RaftPeerRole.FOLLOWER : RaftPeerRole.LISTENER,
      }),
    );
  }

  /**
   * A change of the members that an earlier leader left behind, appended on some servers (spec:
   * H-1).
   */
  private preload(initial: RaftConfiguration, peers: readonly RaftPeer[]): void {
    const { voters } = initial.cur;
    // Either everybody knows of the change, and it may be large, or it is small.
    const known = this.random.chance(0.6);
    const next = peers.filter(isVoter).slice(this.random.below(known ? 3 : 2));
    const listeners = peers.filter((peer) => !isVoter(peer));
    const cur = { voters: next, listeners };
    const start = { ...initial, index: 0 };
    const joint = createConfiguration(cur, { voters, listeners: initial.cur.listeners }, 2);
    const kind = EntryKind.CONFIGURATION;
    const log: SimEntry[] = [
      { term: 1, index: 0, kind, configuration: start, payload: 'own' },
      { term: 1, index: 1, kind: EntryKind.STATE_MACHINE, payload: 'first' },
      { term: 1, index: 2, kind, configuration: joint, payload: 'own' },
    ];
    [...this.nodes.values()].forEach((node, i) => {
      node.disk.term = 1;
      // A peer that was added had been caught up before.
      const member = allPeers(initial).some((peer) => peer.id === node.id);
      const held = known || i === 0 || !member ? 3 : this.random.below(4);
      for (const entry of log.slice(0, held)) node.disk.append(entry, 0);
      node.disk.crash(held);
    });
  }

  /** A message for a link that is cut is lost, and with it the stream. */
  send(message: Message): void {
    this.invariants.onSend(message);
    const key = this.channelOf(message);
    const channel = this.channels.get(key);
    if (channel === undefined) this.channels.set(key, [message]);
    else channel.push(message);
  }

  private channelOf(message: Message): string {
    if (message.kind !== 'append' && message.kind !== 'appendReply') {
      return `call ${this.voteNumber++}`;
    }
    const { from, to, incarnation, epoch, stream, isHeartbeat } = message;
    return `${message.kind} ${from} ${to} ${incarnation} ${epoch} ${stream} ${isHeartbeat}`;
  }

  onPersisted(node: SimNode, write: MetadataWrite): void {
    this.invariants.onPersisted(node, write);
  }

  onCommand(node: SimNode, command: EngineCommand): void {
    this.invariants.onCommand(node, command);
    if (command.kind === 'readReady') this.readsConfirmed++;
    if (command.kind === 'configurationDone') this.changesDone++;
    if (command.kind === 'transferDone') this.transfersDone++;
    if (command.kind === 'roleChanged') {
      if (command.role === RaftPeerRole.LEADER) this.leadersSeen++;
      this.events.push(
        `${Math.round(this.nowMs)} ${node.id} role ${command.role} t${command.term}`,
      );
    }
  }

  /** One random event. */
  step(): void {
    const dice = this.random.below(1000);
    const node = this.random.pick([...this.nodes.values()]) as SimNode;
    if (dice < 560) this.deliver();
    else if (dice < 680) this.passTime();
    else if (dice < 800) this.disk(node);
    else if (dice < 860) this.apply(node);
    else if (this.calm) this.deliver();
    else if (dice < 940) this.request(node);
    else this.fault(node, dice);
    for (const each of this.nodes.values()) this.invariants.afterInput(each);
  }

  private deliver(): void {
    const key = this.random.pick([...this.channels.keys()]);
    if (key === undefined) return;
    const channel = this.channels.get(key) as Message[];
    const message = channel.shift() as Message;
    if (channel.length === 0) this.channels.delete(key);
    const lost = this.cut.has(`${message.from} ${message.to}`);
    if (lost) this.lose(message);
    else this.nodes.get(message.to)?.receive(message);
    if (!lost && !this.nodes.get(message.to)?.up) this.lose(message);
  }

  private lose(message: Message): void {
    if (message.kind === 'vote') {
      const { from, to, electionId, incarnation } = message;
      const reply = undefined;
      this.nodes
        .get(from)
        ?.receive({ kind: 'voteReply', from: to, to: from, incarnation, electionId, reply });
    } else if (message.kind === 'append') this.breakStream(message.from, message.to);
    else if (message.kind === 'appendReply') this.breakStream(message.to, message.from);
  }

  private breakStream(leader: string, peer: string): void {
    const node = this.nodes.get(leader) as SimNode;
    if (node.up && !node.closed) node.endStream(peer);
  }

  private passTime(): void {
    const nodes = [...this.nodes.values()];
    const next = Math.min(...nodes.map((node) => node.deadlineMs()));
    if (next > this.nowMs && this.random.chance(0.7)) {
      this.nowMs = Math.min(next, this.nowMs + this.random.below(30));
    } else this.nowMs += this.random.below(4);
    for (const node of nodes) if (this.random.chance(0.8)) node.wake();
  }

  private disk(node: SimNode): void {
    if (!node.up) return;
    if (node.disk.metadataWrites.length > 0 && this.random.chance(0.7)) node.persist();
    else node.flush(1 + this.random.below(node.disk.writes.length + 1));
  }

  private apply(node: SimNode): void {
    const { engine } = node;
    const open = engine.commitIndex - engine.appliedIndex;
    if (!node.up || open <= 0) return;
    const index = engine.appliedIndex + 1 + this.random.below(open);
    node.call((e, now) => e.onApplied(index, now));
  }

  private request(node: SimNode): void {
    if (!node.up) return;
    if (this.random.chance(0.2)) {
      const readId = this.proposed++;
      this.invariants.onRead(readId);
      node.call((engine, now) => engine.readIndex(readId, now));
      return;
    }
    if (node.engine.role === RaftPeerRole.LEADER && this.random.chance(0.03)) {
      this.administer(node);
      return;
    }
    const count = 1 + this.random.below(3);
    node.propose(Array.from({ length: count }, () => `p${this.proposed++}`));
  }

  /** Other members, another leader, or elections paused for a while. */
  private administer(node: SimNode): void {
    const { random } = this;
    const requestId = this.proposed++;
    const dice = random.below(10);
    if (dice < 6) {
      const request = this.drawChange(node.engine.configuration.cur);
      node.call((engine, now) => engine.setConfiguration(requestId, request, now));
    } else if (dice < 9) {
      const target = random.pick([...this.nodes.keys(), undefined]);
      const timeoutMs = random.below(2) * 200;
      node.call((engine, now) => engine.transferLeadership(requestId, target, timeoutMs, now));
    } else {
      const other = random.pick([...this.nodes.values()]) as SimNode;
      const paused = random.chance(0.5);
      if (other.up) other.call((engine, now) => engine.setElectionsPaused(paused, now));
    }
  }

  /** One peer comes, goes or changes its role, or everything changes at once. */
  private drawChange(cur: PeerSet): SetConfigurationRequest {
    const { random } = this;
    const open = [...this.nodes.values()].filter((node) => !node.closed).map((node) => node.id);
    const voters = new Set(cur.voters.map((peer) => peer.id));
    const listeners = new Set(cur.listeners.map((peer) => peer.id));
    for (let i = 1 + random.below(3); i > 0; i--) {
      const id = random.pick(open) as string;
      // A listener never votes before it holds the entry that promotes it: when those promoted are
      // the majority, and the leader dies first, nobody can be elected.
      if (this.allowsMajorityAdd && listeners.has(id)) continue;
      voters.delete(id);
      listeners.delete(id);
      if (random.chance(0.6)) voters.add(id);
      else if (random.chance(0.4)) listeners.add(id);
    }
    const priorities = random.chance(0.3);
    const peers = (ids: Iterable<string>): RaftPeer[] =>
      [...ids].map((id) =>
        createPeer({ id, address: `h:${id}`, priority: priorities ? random.below(3) : 0 }),
      );
    return {
      mode: 'SET_UNCONDITIONALLY',
      peers: peers(voters),
      listeners: peers(listeners),
      currentPeers: [],
      currentListeners: [],
    };
  }

  private fault(node: SimNode, dice: number): void {
    const { random } = this;
    if (dice < 965) {
      const key = random.pick([...this.channels.keys()]);
      const message = key === undefined ? undefined : this.channels.get(key)?.[0];
      if (key === undefined || message === undefined) return;
      this.channels.delete(key);
      this.lose(message);
    } else if (dice < 973) {
      if (!node.up) return;
      node.crash(random.below(node.disk.writes.length + 1));
      if (random.chance(0.5)) for (const id of this.nodes.keys()) this.breakStream(id, node.id);
    } else if (dice < 985) {
      if (!node.up) node.restart();
    } else if (dice < 990) {
      const other = random.pick([...this.nodes.keys()]) as string;
      this.cut.add(`${node.id} ${other}`);
      if (random.chance(0.5)) this.cut.add(`${other} ${node.id}`);
    } else if (dice < 996) {
      this.cut.clear();
    } else if (dice < 998) {
      if (node.up && !node.closed) node.call((engine, now) => engine.stepDown('FORCE', now));
    } else {
      this.nowMs += random.below(600);
    }
  }

  /** No more faults: within this virtual time the members must agree (spec: I-22). */
  recover(limitMs: number): void {
    this.calm = true;
    this.cut.clear();
    for (const node of this.nodes.values()) {
      if (!node.up) node.restart();
      if (!node.closed) node.call((engine, now) => engine.setElectionsPaused(false, now));
    }
    const untilMs = this.nowMs + limitMs;
    while (this.nowMs < untilMs && !this.agreed()) for (let i = 0; i < 60; i++) this.step();
    if (!this.agreed()) throw new Error(`no agreement:\n${this.describe()}`);
  }

  private agreed(): boolean {
    const live = [...this.nodes.values()].filter((node) => !node.closed);
    const leader = live.find((node) => node.engine.role === RaftPeerRole.LEADER);
    if (leader === undefined || leader.engine.leaderCheck(false) !== 'ok') return false;
    if (leader.engine.configuration.old !== undefined) return false;
    const members = leader.engine.followers(this.nowMs);
    const commit = leader.engine.commitIndex;
    return (
      leader.disk.log.length - 1 === commit &&
      members.every(({ peerId }) => {
        const engine = this.nodes.get(peerId)?.engine;
        return engine?.leaderId === leader.id && engine.commitIndex === commit;
      })
    );
  }

  describe(): string {
    const lines = [...this.nodes.values()].map(({ id, engine, up, closed, disk }) => {
      const state = `${up ? '' : 'down '}${closed ? 'closed ' : ''}${engine.lifeCycle}`;
      const { role, currentTerm, leaderId, commitIndex, flushIndex } = engine;
      const office = `role ${role} t${currentTerm} leader ${leaderId}`;
      const log = `commit ${commitIndex} flush ${flushIndex} last ${disk.log.length - 1}`;
      return `${id} ${state} ${office} ${log}`;
    });
    return [`now ${this.nowMs}`, ...lines, ...this.events.slice(-20)].join('\n');
  }
}

function isVoter(peer: RaftPeer): boolean {
  return peer.startupRole !== RaftPeerRole.LISTENER;
}

function initialOf(peers: readonly RaftPeer[]): RaftConfiguration {
  const listeners = peers.filter((peer) => !isVoter(peer));
  return createConfiguration({ voters: peers.filter(isVoter), listeners }, undefined, -1);
}

function withoutLastVoter(peers: readonly RaftPeer[]): RaftPeer[] {
  const last = peers.filter(isVoter).at(-1);
  return peers.filter((peer) => peer !== last);
}
