import type { FollowerRecord } from './progress.js';
import type { Levels } from './quorum.js';
import type { CoreState } from './state.js';
import type { FollowerInfo, WatchLevels } from './types.js';

const matchOf = (record: FollowerRecord | undefined, own: number): number =>
  record?.matchIndex ?? own;
const commitOf = (record: FollowerRecord | undefined, own: number): number =>
  record?.commitIndex ?? own;

/**
 * Levels for watches; the throttle of commits has no part in them (spec: consensus 7.5,
 * RATIS-1415).
 */
export function watchLevelsOf(s: CoreState): WatchLevels | undefined {
  const { leader } = s;
  if (leader === undefined) return undefined;
  const match: Levels = { min: -1, majority: -1, max: -1 };
  const commit: Levels = { min: -1, majority: -1, max: -1 };
  leader.levels(matchOf, s.flushIndex, match);
  leader.levels(commitOf, s.commitIndex, commit);
  return {
    majority: Math.max(commit.max, s.commitIndex),
    all: match.min,
    majorityCommitted: commit.majority,
    allCommitted: commit.min,
  };
}

export function followerInfos(s: CoreState, nowMs: number): FollowerInfo[] {
  return [...(s.leader?.records.values() ?? [])].map((record) => ({
    peerId: record.peerId,
    nextIndex: record.nextIndex,
    matchIndex: record.matchIndex,
    commitIndex: record.commitIndex,
    caughtUp: record.caughtUp,
    lastResponseElapsedMs: Math.max(0, nowMs - record.lastResponseMs),
  }));
}
