import { AppendResult } from '../../proto/wire/types.js';
import type { PeerSet, RaftConfiguration } from '../../protocol/configuration.js';
import { RaftPeerRole } from '../../protocol/peer.js';
import type { EngineCommand } from '../types.js';
import type { MetadataWrite, SimEntry } from './disk.test-support.js';
import type { Message } from './messages.test-support.js';
import type { SimNode } from './node.test-support.js';

function check(holds: boolean, message: string): void {
  if (!holds) throw new Error(`invariant broken: ${message}`);
}

/**
 * Watches a cluster of engines for the invariants of the specification (spec: consensus 10).
 * History survives restarts.
 */
export class Invariants {
  private readonly nodes: ReadonlyMap<string, SimNode>;
  private readonly leaders = new Map<number, string>();
  private readonly votes = new Map<string, string>();
  private readonly persistedTerms = new Map<string, number>();
  private readonly commits = new Map<string, number>();
  /** Term in which a server led after its last input. */
  private readonly offices = new Map<string, number>();
  private readonly configurations = new Map<string, RaftConfiguration>();
  /** Greatest index committed anywhere when a read was registered. */
  private readonly reads = new Map<number, number>();
  /** What is committed anywhere, by index. */
  readonly committed: SimEntry[] = [];

  constructor(nodes: ReadonlyMap<string, SimNode>) {
    this.nodes = nodes;
  }

  /** Before the command is carried out. */
  onCommand(node: SimNode, command: EngineCommand): void {
    const { engine, id } = node;
    if (command.kind === 'roleChanged' && command.role === RaftPeerRole.LEADER) {
      const known = this.leaders.get(command.term) ?? id;
      check(known === id, `I-1: ${known} and ${id} lead in term ${command.term}`);
      this.leaders.set(command.term, id);
      this.checkComplete(node);
    } else if (command.kind === 'appendEntries' && command.truncateFrom !== undefined) {
      check(engine.role !== RaftPeerRole.LEADER, `I-4: leader ${id} truncates`);
      const cut = command.truncateFrom;
      check(cut > engine.commitIndex, `I-7: ${id} truncates ${cut}, which is committed`);
    } else if (command.kind === 'readReady') {
      const needed = this.reads.get(command.readId) ?? -1;
      check(command.readIndex >= needed, `I-19: a stale read at ${command.readIndex} < ${needed}`);
    } else if (command.kind === 'appendOwn') {
      check(command.header.term === engine.currentTerm, 'I-4: an own entry of another term');
    }
  }

  /** A read is about to be registered. */
  onRead(readId: number): void {
    this.reads.set(readId, this.committed.length - 1);
  }

  /** Term and vote are durable (spec: I-2). */
  onPersisted({ id }: SimNode, { term, votedFor }: MetadataWrite): void {
    check(term >= (this.persistedTerms.get(id) ?? 0), `I-2: the term of ${id} fell`);
    this.persistedTerms.set(id, term);
    const key = `${id}@${term}`;
    const vote = this.votes.get(key) ?? votedFor;
    check(vote === votedFor, `I-2: ${key} voted for ${vote} and ${votedFor}`);
    if (vote !== undefined) this.votes.set(key, vote);
  }

  /** A message leaves (spec: I-3). */
  onSend(message: Message): void {
    const sender = this.nodes.get(message.from) as SimNode;
    const { disk } = sender;
    if (message.kind === 'vote' && !message.request.preVote) {
      const { candidateTerm, candidateId } = message.request;
      const durable = disk.term === candidateTerm && disk.votedFor === candidateId;
      check(durable, `I-3: ${message.from} asks before its own vote is durable`);
    } else if (message.kind === 'voteReply' && message.reply?.granted === true) {
      check(disk.term >= message.reply.term - 1, 'I-3: a vote of a term that is not durable');
    } else if (message.kind === 'append') {
      check(disk.term >= message.request.leaderTerm, 'I-3: a leader whose term is not durable');
    } else if (message.kind === 'appendReply' && typeof message.reply !== 'string') {
      const { reply } = message;
      if (message.isHeartbeat || reply.result !== AppendResult.SUCCESS) return;
      check(reply.matchIndex < disk.durable.length, `I-3: ${message.from} promises too much`);
    }
  }

  /** After each input of a node. */
  afterInput(node: SimNode): void {
    if (!node.up || node.closed) {
      this.offices.delete(node.id);
      return;
    }
    const { engine, id, disk } = node;
    const { commitIndex, appliedIndex, flushIndex, lastIndex } = engine;
    check(appliedIndex <= commitIndex, `I-8: ${id} applied beyond its commit index`);
    check(commitIndex <= flushIndex && flushIndex <= lastIndex, `I-8: indices of ${id}`);
    check(lastIndex === disk.log.length - 1, `${id}: the engine's log is not the disk's`);
    const key = `${id}#${node.incarnation}`;
    const before = this.commits.get(key) ?? -1;
    check(commitIndex >= before, `I-8: commit index of ${id} fell`);
    if (commitIndex > before) this.commit(node, before + 1);
    this.commits.set(key, commitIndex);
    const leads = engine.role === RaftPeerRole.LEADER;
    if (leads) this.checkRecords(node);
    this.configurations.set(id, engine.configuration);
    this.offices.set(id, leads ? engine.currentTerm : -1);
  }

  private commit(node: SimNode, from: number): void {
    const { engine, disk, id } = node;
    for (let i = from; i <= engine.commitIndex; i++) {
      const entry = disk.log[i] as SimEntry;
      const known = this.committed[i];
      if (known === undefined) {
        this.committed[i] = entry;
        continue;
      }
      const same = known.term === entry.term && known.payload === entry.payload;
      check(same, `I-7: ${id} commits another entry ${i}`);
    }
    if (this.offices.get(id) === engine.currentTerm) this.checkCommitRule(node);
  }

  /**
   * The entry is of the leader's term, and durable on a majority of each side (spec: I-9, I-14).
   */
  private checkCommitRule(node: SimNode): void {
    const { engine, disk, id } = node;
    const last = disk.log[engine.commitIndex] as SimEntry;
    check(last.term === engine.currentTerm, `I-9: ${id} commits an entry of an older term`);
    // The one in force when the input came: a joint one that is committed now has been completed
    // meanwhile.
    const { cur, old } = this.configurations.get(id) ?? engine.configuration;
    const holds = (side: PeerSet): boolean => {
      const having = side.voters.filter(({ id: voter }) => {
        const entry = this.nodes.get(voter)?.disk.durable[last.index];
        return entry?.term === last.term;
      });
      return 2 * having.length > side.voters.length;
    };
    check(holds(cur) && (old === undefined || holds(old)), `I-9: ${id} commits ${last.index}`);
  }

  private checkComplete(node: SimNode): void {
    const { disk, engine, id } = node;
    this.committed.forEach((entry, index) => {
      const own = disk.log[index];
      const same = own?.term === entry.term && own.payload === entry.payload;
      check(same, `I-6: leader ${id} of term ${engine.currentTerm} lacks entry ${index}`);
    });
  }

  private checkRecords(node: SimNode): void {
    for (const { peerId, matchIndex, nextIndex } of node.engine.followers(
      node.engine.roleSinceMs,
    )) {
      check(nextIndex >= 0 && nextIndex <= node.disk.log.length, `next index of ${peerId}`);
      if (matchIndex < 0) continue;
      check(nextIndex > matchIndex, `I-10: next index of ${peerId} is behind its match index`);
      const theirs = this.nodes.get(peerId)?.disk.durable[matchIndex];
      const ours = node.disk.log[matchIndex];
      check(theirs?.term === ours?.term, `I-10: ${peerId} does not hold ${matchIndex}`);
    }
  }
}
