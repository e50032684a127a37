import type { RaftPeerId } from '../protocol/ids.js';
import { RaftPeerRole } from '../protocol/peer.js';
import { Ballot, type BallotResult } from './ballot.js';
import { otherVoters } from './quorum.js';
import type { CoreState, Election } from './state.js';
import { isPlausibleTerm } from './term-limit.js';
import type { VoteReply, VoteRequest } from './types.js';

/** A candidate's rounds: pre-vote, then election, until one ends it (spec: consensus 2.3). */
export function startElection(s: CoreState, forced: boolean): void {
  ask(s, skipsPreVote(s, forced) ? 'election' : 'preVote', forced);
}

/** Ends the current round; answers that still come are ignored. */
export function endElection(s: CoreState): void {
  if (s.election === undefined) return;
  s.emit({ kind: 'electionEnded', electionId: s.election.id });
  s.election = undefined;
}

/** `reply` undefined: the call failed. */
export function onVoteReply(
  s: CoreState,
  electionId: number,
  from: RaftPeerId,
  reply: VoteReply | undefined,
): void {
  const { election } = s;
  if (election?.id !== electionId || election.awaiting !== undefined) return;
  const credible = reply !== undefined && isPlausibleTerm(s, reply.term);
  const result = election.ballot.answer(from, credible ? reply : undefined);
  if (result !== undefined) act(s, election, result);
}

/** The round's time is over (spec: consensus 2.4 step 1). */
export function onElectionDeadline(s: CoreState): void {
  if (s.election !== undefined) act(s, s.election, s.election.ballot.expired());
}

/** Own term and vote are durable: now the requests may leave (spec: A-2). */
export function onElectionMetadata(s: CoreState): void {
  const { election } = s;
  if (election?.awaiting === undefined || s.pendingMetadata !== undefined) return;
  send(s, election);
}

function skipsPreVote(s: CoreState, forced: boolean): boolean {
  return forced || !s.config.preVote;
}

function ask(s: CoreState, phase: Election['phase'], forced: boolean): void {
  s.setLeader(undefined);
  const conf = s.configurations.current;
  // A server that only the old side names goes on asking until the change is complete (spec: H-17).
  if (!s.configurations.hasVote(s.selfId, s.commitIndex)) {
    if (s.isStaged) waitForLeader(s);
    else leaveGroup(s, `${s.selfId} is not a voter of its configuration`);
    return;
  }
  if (phase === 'election') {
    s.raiseTerm(s.term + 1);
    s.votedFor = s.selfId;
    s.persistMetadata();
  }
  const election: Election = {
    id: s.nextElectionId++,
    phase,
    term: s.term,
    forced,
    ballot: new Ballot(conf, s.selfId, s.term, s.commitIndex < 0),
    awaiting: s.pendingMetadata,
    deadlineMs: Number.POSITIVE_INFINITY,
  };
  s.election = election;
  if (election.awaiting === undefined) send(s, election);
}

function send(s: CoreState, election: Election): void {
  election.awaiting = undefined;
  const passed = election.ballot.initial();
  if (passed !== undefined) {
    act(s, election, passed);
    return;
  }
  election.deadlineMs = s.nowMs + s.drawTimeoutMs();
  const request: VoteRequest = {
    candidateId: s.selfId,
    candidateTerm: election.term,
    candidateLastEntry: s.log.lastEntry,
    preVote: election.phase === 'preVote',
  };
  for (const { id } of otherVoters(s.configurations.current, s.selfId)) {
    s.emit({ kind: 'requestVote', to: id, electionId: election.id, request });
  }
}

function act(s: CoreState, election: Election, result: BallotResult): void {
  if (s.role !== RaftPeerRole.CANDIDATE || s.election !== election) return;
  if (s.term !== election.term) return;
  endElection(s);
  switch (result.kind) {
    case 'passed':
      if (election.phase === 'preVote') ask(s, 'election', election.forced);
      else s.roles.becomeLeader();
      return;
    case 'timeout':
      if (s.electionsPaused) s.roles.stepToFollower(s.term);
      else ask(s, skipsPreVote(s, election.forced) ? 'election' : 'preVote', election.forced);
      return;
    case 'shutdown':
      leaveGroup(s, 'the leader says that this server left the group');
      return;
    case 'rejected':
    case 'newTerm':
      s.roles.stepToFollower(Math.max(s.term, result.term));
      return;
  }
}

/**
 * A leader was bringing this server up when it fell silent: the server is about to become a member,
 * or was. It waits as one that is new (spec: consensus 1.3).
 */
function waitForLeader(s: CoreState): void {
  s.lifeCycle = 'starting';
  s.roles.stepToFollower(s.term);
}

/** Stays without a timer until the driver closes the division (spec: consensus 2.3). */
function leaveGroup(s: CoreState, reason: string): void {
  s.emit({ kind: 'closeDivision', reason });
}
