import type { RaftConfiguration } from '../protocol/configuration.js';
import type { RaftPeerId } from '../protocol/ids.js';
import { allVoters, hasMajority, isSingleMode, majorityRejects, priorityOf } from './quorum.js';
import type { VoteReply } from './types.js';

export type BallotResult =
  | { readonly kind: 'passed' | 'timeout' | 'shutdown' }
  /** `term`: the greatest that was heard. */
  | { readonly kind: 'rejected' | 'newTerm'; readonly term: number };

const PASSED: BallotResult = { kind: 'passed' };

/**
 * (0, -1) tells an empty log; absent or (0, 0) comes from voters that do not tell (spec: consensus
 * 2.4 step 6).
 */
function mayHoldEntries(reply: VoteReply): boolean {
  const last = reply.lastEntry;
  return last === undefined || last.term > 0 || last.index !== -1;
}

/** Counts the answers to one round of vote requests (spec: consensus 2.4). */
export class Ballot {
  private readonly conf: RaftConfiguration;
  private readonly singleMode: boolean;
  private readonly term: number;
  private readonly emptyCommit: boolean;
  private readonly voted: Set<RaftPeerId>;
  private readonly rejected = new Set<RaftPeerId>();
  private readonly unanswered: Set<RaftPeerId>;
  /** Peers of higher priority that did not answer yet. */
  private readonly higher: Set<RaftPeerId>;

  constructor(conf: RaftConfiguration, selfId: RaftPeerId, term: number, emptyCommit: boolean) {
    this.conf = conf;
    this.term = term;
    this.emptyCommit = emptyCommit;
    this.singleMode = isSingleMode(conf, selfId);
    this.voted = new Set([selfId]);
    const voters = allVoters(conf);
    const own = priorityOf(conf, selfId);
    this.unanswered = new Set(voters.map((peer) => peer.id).filter((id) => id !== selfId));
    this.higher = new Set(voters.filter((peer) => peer.priority > own).map((peer) => peer.id));
  }

  /** What is decided without any answer: a server that needs nobody else has passed. */
  initial(): BallotResult | undefined {
    return this.unanswered.size === 0 ? PASSED : undefined;
  }

  /** `reply` undefined: the call failed. Undefined while the outcome is open. */
  answer(from: RaftPeerId, reply: VoteReply | undefined): BallotResult | undefined {
    if (!this.unanswered.delete(from)) return undefined;
    const decided = reply === undefined ? undefined : this.count(from, reply);
    if (decided !== undefined || this.unanswered.size > 0) return decided;
    if (this.hasMajority() || this.singleMode) return PASSED;
    return { kind: 'rejected', term: this.term };
  }

  /** The time is over. Silent peers of higher priority do not matter any more (RATIS-1047). */
  expired(): BallotResult {
    return this.hasMajority() || this.singleMode ? PASSED : { kind: 'timeout' };
  }

  private count(from: RaftPeerId, reply: VoteReply): BallotResult | undefined {
    if (reply.shouldShutdown) return { kind: 'shutdown' };
    if (reply.term > this.term) return { kind: 'newTerm', term: reply.term };
    const rejected: BallotResult = { kind: 'rejected', term: Math.max(this.term, reply.term) };
    if (!reply.granted && this.higher.has(from) && !this.singleMode) return rejected;
    this.higher.delete(from);
    if (reply.granted && (this.emptyCommit || mayHoldEntries(reply))) {
      this.voted.add(from);
      return this.higher.size === 0 && this.hasMajority() ? PASSED : undefined;
    }
    this.rejected.add(from);
    return majorityRejects(this.conf, (id) => this.rejected.has(id)) ? rejected : undefined;
  }

  private hasMajority(): boolean {
    return hasMajority(this.conf, (id) => this.voted.has(id));
  }
}
