import { RaftPeerRole } from '../protocol/peer.js';
import { INITIAL_TERM_INDEX, type TermIndex } from '../protocol/term-index.js';
import { checkLeadership } from './lead.js';
import { isCurrentVoter, isListener, isVoter, priorityOf } from './quorum.js';
import type { CoreState } from './state.js';
import { implausible, isPlausibleTerm } from './term-limit.js';
import type { VoteReply, VoteRequest } from './types.js';

const { LEADER, FOLLOWER, LISTENER } = RaftPeerRole;

/** A position that is absent counts as one of term 0 (spec: consensus 2.5, Appendix A). */
export function compareLastEntries(
  own: TermIndex | undefined,
  candidate: TermIndex | undefined,
): number {
  const theirs = candidate?.term === 0 ? undefined : candidate;
  if (own === undefined || theirs === undefined) {
    return (own === undefined ? 0 : 1) - (theirs === undefined ? 0 : 1);
  }
  return own.term !== theirs.term ? own.term - theirs.term : own.index - theirs.index;
}

/** Answers a request for a vote or pre-vote by the voter's table (spec: consensus 2.5). */
export function onVoteRequest(s: CoreState, requestId: number, request: VoteRequest): void {
  if (!mayVote(s)) {
    s.emit({ kind: 'failVote', requestId });
    return;
  }
  if (!isPlausibleTerm(s, request.candidateTerm)) {
    s.emit({ kind: 'failVote', requestId, malformed: implausible(request.candidateTerm) });
    return;
  }
  const recognised = recognises(s, request);
  const isElection = !request.preVote;
  if (recognised && isElection && s.role === LISTENER) {
    s.emit({ kind: 'failVote', requestId });
    return;
  }
  const granted = recognised && decides(s, request);
  if (recognised && isElection) {
    s.roles.stepToFollower(request.candidateTerm, { freshTimer: true });
  }
  if (granted && isElection && s.votedFor !== request.candidateId) {
    s.votedFor = request.candidateId;
    s.persistMetadata();
  }
  if (granted && isElection) s.setLeader(undefined);
  if (granted) s.timer?.touch(s.nowMs);
  const reply: VoteReply = {
    granted,
    term: s.term,
    shouldShutdown: !granted && leftGroup(s, request),
    lastEntry: s.log.lastEntry ?? INITIAL_TERM_INDEX,
  };
  s.emitWhenPersisted({ kind: 'replyVote', requestId, reply });
}

/**
 * A server that was brought up for a group and still waits for its first regular request may hold a
 * vote that the group cannot do without, if the leader that added it is gone. One without any entry
 * has nothing to give.
 */
function mayVote(s: CoreState): boolean {
  if (s.lifeCycle === 'running') return true;
  return s.started && s.lifeCycle === 'starting' && s.log.lastEntry !== undefined;
}

/** The leader that is known here was heard lately. */
function hearsLeader(s: CoreState): boolean {
  const { rpcTimeoutMinMs } = s.config;
  const heard = s.timer?.heardWithin(rpcTimeoutMinMs, s.nowMs);
  return s.leaderId !== undefined && (heard ?? s.nowMs - s.leaderHeardMs < rpcTimeoutMinMs);
}

/**
 * Whether the request of a candidate that this server's configuration does not name is considered.
 * It may be a voter by an entry that has not come here yet, so a longer log makes it one, as in the
 * dissertation on Raft (4.1); but it may also have been removed, so a living leader is not
 * disturbed.
 */
function mayBeMember(s: CoreState, request: VoteRequest): boolean {
  if (s.role === LEADER || s.role === LISTENER || hearsLeader(s)) return false;
  return compareLastEntries(s.log.lastEntry, request.candidateLastEntry) < 0;
}

/**
 * Step A. While a joint configuration is open its old voters may be elected too: else a change
 * whose leader died could leave nobody who is both up to date and recognised. (Java's old voters
 * close themselves instead of asking, so its peers never see the difference; spec: H-17.)
 */
function recognises(s: CoreState, request: VoteRequest): boolean {
  const { candidateId, candidateTerm, preVote } = request;
  if (!isVoter(s.configurations.current, candidateId) && !mayBeMember(s, request)) return false;
  if (!preVote) {
    if (s.term > candidateTerm) return false;
    if (s.term < candidateTerm) return true;
    if (s.votedFor !== undefined && s.votedFor !== candidateId) return false;
  }
  // The check may make this server step down, and then its vote is free.
  if (s.role === LEADER && checkLeadership(s)) return false;
  return s.role !== FOLLOWER || s.leaderId === candidateId || !hearsLeader(s);
}

/** Step B, for a recognised candidate. */
function decides(s: CoreState, request: VoteRequest): boolean {
  if (s.role === LISTENER) return false;
  const order = compareLastEntries(s.log.lastEntry, request.candidateLastEntry);
  if (order !== 0) return order < 0;
  const conf = s.configurations.current;
  if (!s.configurations.hasVote(s.selfId, s.commitIndex)) return false;
  return priorityOf(conf, s.selfId) <= priorityOf(conf, request.candidateId);
}

/** The candidate was removed from the group, and does not know it (spec: consensus 2.5, 4.5). */
function leftGroup(s: CoreState, request: VoteRequest): boolean {
  const conf = s.configurations.current;
  return (
    s.role === LEADER &&
    conf.old === undefined &&
    s.commitIndex >= conf.index &&
    !isCurrentVoter(conf, request.candidateId) &&
    !isListener(conf, request.candidateId) &&
    (request.candidateLastEntry?.index ?? 0) < conf.index &&
    s.leader?.records.has(request.candidateId) !== true
  );
}
