import { AppendResult, EntryKind } from '../../proto/wire/types.js';
import type { PeerSet } from '../../protocol/configuration.js';
import type { RaftPeerId } from '../../protocol/ids.js';
import { formatTermIndex, type TermIndex } from '../../protocol/term-index.js';
import type {
  AppendHeader,
  AppendReply,
  AppendRequest,
  EntryHeader,
  VoteReply,
  VoteRequest,
} from '../types.js';

interface Addressed {
  readonly from: RaftPeerId;
  readonly to: RaftPeerId;
  /** Which life of the asking server the exchange belongs to. */
  readonly incarnation: number;
}

export interface VoteMessage extends Addressed {
  readonly kind: 'vote';
  readonly electionId: number;
  readonly request: VoteRequest;
}

export interface VoteReplyMessage extends Addressed {
  readonly kind: 'voteReply';
  readonly electionId: number;
  readonly reply: VoteReply | undefined;
}

/** Names the appender's stream that carries a request and its reply. */
export interface StreamId {
  readonly epoch: number;
  readonly stream: number;
  readonly isHeartbeat: boolean;
}

export interface AppendMessage extends Addressed, StreamId {
  readonly kind: 'append';
  readonly callId: number;
  readonly request: AppendRequest;
}

export interface AppendReplyMessage extends Addressed, StreamId {
  readonly kind: 'appendReply';
  readonly callId: number;
  /** A text when the request failed. */
  readonly reply: AppendReply | string;
}

/** A leader asks its successor to campaign. */
export interface InvitationMessage extends Addressed {
  readonly kind: 'invite';
  readonly transferId: number;
  readonly leaderLastEntry: TermIndex;
}

export interface InvitationReplyMessage extends Addressed {
  readonly kind: 'inviteReply';
  readonly transferId: number;
  readonly accepted: boolean | undefined;
}

export type Message =
  | VoteMessage
  | VoteReplyMessage
  | AppendMessage
  | AppendReplyMessage
  | InvitationMessage
  | InvitationReplyMessage;

/** The request that a leader's appender writes. */
export function toRequest(
  leaderId: RaftPeerId,
  header: AppendHeader,
  entries: readonly EntryHeader[],
): AppendRequest {
  const { leaderTerm, previous, leaderCommit, initializing } = header;
  return { leaderId, leaderTerm, previous, entries, leaderCommit, initializing };
}

function formatPeers(side: PeerSet | undefined): string {
  const ids = (peers: readonly { id: string }[] = []): string => peers.map((p) => p.id).join(',');
  const listeners = ids(side?.listeners);
  return `${ids(side?.voters)}${listeners === '' ? '' : ` (${listeners})`}`;
}

export function formatEntry(entry: EntryHeader): string {
  const { kind } = entry;
  if (kind === EntryKind.METADATA)
    return `${entry.index}:t${entry.term} meta=${entry.metadataCommitIndex}`;
  if (kind === EntryKind.CONFIGURATION) {
    const conf = entry.configuration;
    const old = conf?.old === undefined ? '' : ` old=${formatPeers(conf.old)}`;
    return `${entry.index}:t${entry.term} conf=${formatPeers(conf?.cur)}${old}`;
  }
  return `${entry.index}:t${entry.term}`;
}

function formatReply(reply: AppendReply): string {
  const name = ['SUCCESS', 'NOT_LEADER', 'INCONSISTENCY'][reply.result] ?? 'unknown';
  const match = reply.result === AppendResult.SUCCESS ? ` match=${reply.matchIndex}` : '';
  return `${name} t${reply.term} next=${reply.nextIndex}${match} commit=${reply.followerCommit}`;
}

/** One line of a trace. */
export function formatMessage(m: Message): string {
  const path = `${m.from}->${m.to}`;
  if (m.kind === 'vote') {
    const { preVote, candidateTerm, candidateLastEntry } = m.request;
    const what = preVote ? 'pre-vote?' : 'vote?';
    return `${path} ${what} t${candidateTerm} last=${formatTermIndex(candidateLastEntry)}`;
  }
  if (m.kind === 'voteReply') {
    if (m.reply === undefined) return `${path} vote call failed`;
    const { granted, term, shouldShutdown } = m.reply;
    const end = shouldShutdown ? ' shutdown' : '';
    return `${path} ${granted ? 'granted' : 'refused'} t${term}${end}`;
  }
  if (m.kind === 'invite') return `${path} campaign! last=${formatTermIndex(m.leaderLastEntry)}`;
  if (m.kind === 'inviteReply') {
    if (m.accepted === undefined) return `${path} call failed`;
    return `${path} ${m.accepted ? 'accepts' : 'declines'}`;
  }
  if (m.kind === 'append') {
    const { request } = m;
    const what = m.isHeartbeat
      ? 'heartbeat'
      : `append [${request.entries.map(formatEntry).join(' ')}]`;
    const previous = formatTermIndex(request.previous);
    return `${path} ${what} t${request.leaderTerm} prev=${previous} commit=${request.leaderCommit}`;
  }
  const what = m.isHeartbeat ? 'heartbeat reply' : 'append reply';
  const outcome = typeof m.reply === 'string' ? `failed: ${m.reply}` : formatReply(m.reply);
  return `${path} ${what} ${outcome}`;
}
