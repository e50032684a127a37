import { EntryKind } from '../proto/wire/types.js';
import type { CoreState } from './state.js';
import { implausible, isPlausibleTerm } from './term-limit.js';
import type { AppendRequest } from './types.js';

/**
 * Why a request cannot come from a correct leader, or undefined (spec: consensus 3.5, pre-checks).
 */
export function malformation(s: CoreState, request: AppendRequest): string | undefined {
  const { leaderId, leaderTerm } = request;
  if (leaderId === s.selfId) return 'the leader names itself by the id of the receiver';
  if (leaderTerm < 1) return `leader term ${leaderTerm} is not positive`;
  if (!isPlausibleTerm(s, leaderTerm)) return implausible(leaderTerm);
  const previous = request.previous?.term === 0 ? undefined : request.previous;
  if (previous !== undefined && (previous.term < 0 || previous.index < 0)) {
    return `previous entry (t:${previous.term}, i:${previous.index}) is not valid`;
  }
  const first = request.entries[0];
  if (first === undefined) return undefined;
  const expected = previous === undefined ? 0 : previous.index + 1;
  const behindSnapshot = previous === undefined && first.index === s.log.snapshotIndex + 1;
  if (first.index !== expected && !behindSnapshot) {
    return `first entry is ${first.index} instead of ${expected}`;
  }
  return malformedEntries(request, previous?.term ?? 1, first.index);
}

function malformedEntries(
  request: AppendRequest,
  previousTerm: number,
  firstIndex: number,
): string | undefined {
  let term = previousTerm;
  let index = firstIndex;
  for (const entry of request.entries) {
    if (entry.index !== index) return `entry ${entry.index} follows ${index - 1}`;
    if (entry.term > request.leaderTerm) {
      return `term ${entry.term} of entry ${index} is above the leader's ${request.leaderTerm}`;
    }
    if (entry.term < term) return `term ${entry.term} of entry ${index} is below ${term}`;
    if (entry.kind === EntryKind.CONFIGURATION && entry.configuration === undefined) {
      return `entry ${index} has no configuration`;
    }
    if (entry.kind === EntryKind.METADATA && (entry.metadataCommitIndex ?? -1) >= index) {
      return `entry ${index} says that ${entry.metadataCommitIndex} is committed`;
    }
    term = entry.term;
    index++;
  }
  return undefined;
}
