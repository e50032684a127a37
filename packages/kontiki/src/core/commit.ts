import { createConfiguration } from '../protocol/configuration.js';
import { finishChange } from './change.js';
import { appendConfiguration } from './lead.js';
import type { LeaderState, VoterValue } from './leader-state.js';
import { isCurrentVoter, type Levels } from './quorum.js';
import type { CoreState } from './state.js';
import { tryHandOver } from './transfer.js';

/** How long the record of a commit may wait for an entry to ride with. */
export const METADATA_DELAY_MS = 10;

const matchIndexOf: VoterValue = (record, own) => (record === undefined ? own : record.matchIndex);
const levels: Levels = { min: -1, majority: -1, max: -1 };

/**
 * Raises the leader's commit index as far as voters and the own disk allow (spec: consensus 3.10).
 */
export function updateCommit(s: CoreState): void {
  const { leader, config } = s;
  if (leader === undefined || !leader.levels(matchIndexOf, s.flushIndex, levels)) return;
  let { majority } = levels;
  const gap = config.followerGapRatioMax;
  if (gap > 0 && gap <= 1 && majority - levels.min > Math.floor(gap * config.writeElementLimit)) {
    majority = levels.min;
  }
  const commit = Math.min(majority, s.flushIndex);
  // Only entries of the own term are committed by counting (RATIS-748).
  if (commit <= s.commitIndex || s.log.termAt(commit) !== s.term) return;
  const before = s.commitIndex;
  s.commitIndex = commit;
  noteMetadata(s, leader, s.metadataEntries.takeLastOther(before, commit));
  const conf = s.configurations.current;
  s.configurations.settle(commit);
  if (conf.index > before && conf.index <= commit) onConfigurationCommitted(s, leader);
}

/**
 * The commit index is written to the log, together with the next entry or a little later (spec:
 * consensus 3.10 step 5, RATIS-2134).
 */
function noteMetadata(s: CoreState, leader: LeaderState, last: number): void {
  if (!s.config.logMetadataEnabled || last <= 0 || last <= s.lastMetadataCommitIndex) return;
  leader.metadataCommitIndex = last;
  leader.metadataDueMs = Math.min(leader.metadataDueMs, s.nowMs + METADATA_DELAY_MS);
}

/**
 * The configuration in force is committed: a joint one is completed; a server that it leaves out
 * goes (spec: consensus 4.4).
 */
function onConfigurationCommitted(s: CoreState, leader: LeaderState): void {
  const conf = s.configurations.current;
  if (conf.old !== undefined) {
    appendConfiguration(s, createConfiguration(conf.cur, undefined, s.log.nextIndex));
    return;
  }
  finishChange(s);
  if (isCurrentVoter(conf, s.selfId)) return;
  // The entry needs time to spread, outside of this call (spec: H-27).
  leader.leaveAtMs = s.nowMs + s.config.rpcTimeoutMinMs;
  tryHandOver(s, leader);
}
