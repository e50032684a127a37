import { assert } from '../common/errors.js';
import type { RaftConfiguration } from '../protocol/configuration.js';
import type { RaftPeerId } from '../protocol/ids.js';
import type { RaftPeer } from '../protocol/peer.js';
import type { PendingChange } from './change.js';
import type { FollowerRecord } from './progress.js';
import { combineLevels, type Levels, levelsOf } from './quorum.js';
import { ReadQueue } from './read-queue.js';

/** Value that a voter contributes to a level; `record` undefined stands for the leader itself. */
export type VoterValue = (record: FollowerRecord | undefined, own: number) => number;

type VoterRecords = (FollowerRecord | undefined)[];

/** Everything a leader has for one term of office. */
export class LeaderState {
  readonly term: number;
  readonly startedMs: number;
  /** Index of the start-up entry (spec: L-1). */
  readonly startIndex: number;
  ready = false;
  readonly reads = new ReadQueue();
  readonly records = new Map<RaftPeerId, FollowerRecord>();
  /** The next look at majority, time-outs and slowness (spec: H-5). */
  tickAtMs: number;
  /** When a metadata entry has to be appended at the latest. */
  metadataDueMs = Number.POSITIVE_INFINITY;
  metadataCommitIndex = -1;
  /** When a leader that is no voter any more leaves its office (spec: consensus 4.4, H-27). */
  leaveAtMs = Number.POSITIVE_INFINITY;
  /** Somebody else was asked to campaign then. */
  isHandedOver = false;
  /** No yielding to a higher priority before. */
  yieldAfterMs = Number.NEGATIVE_INFINITY;
  change: PendingChange | undefined;
  /** Length and end of the last stall of this process that was noticed. */
  stallMs = 0;
  stallEndMs = Number.NEGATIVE_INFINITY;
  wakeWanted = false;
  /** Records of the voters, as the commit rule walks them. */
  private cur: VoterRecords = [];
  private old: VoterRecords | undefined;
  private readonly selfId: RaftPeerId;
  private readonly scratch: number[] = [];
  private readonly oldLevels: Levels = { min: -1, majority: -1, max: -1 };

  constructor(options: {
    selfId: RaftPeerId;
    term: number;
    startIndex: number;
    startedMs: number;
    tickAtMs: number;
  }) {
    this.selfId = options.selfId;
    this.term = options.term;
    this.startIndex = options.startIndex;
    this.startedMs = options.startedMs;
    this.tickAtMs = options.tickAtMs;
  }

  /** Must follow each change of the configuration or of the records (RATIS-1751). */
  useVoters(conf: RaftConfiguration): void {
    this.cur = this.recordsOf(conf.cur.voters);
    this.old = conf.old === undefined ? undefined : this.recordsOf(conf.old.voters);
  }

  /**
   * Levels of a value over the voters, jointly when there are two sides; false if nobody votes
   * (spec: consensus 3.10).
   */
  levels(value: VoterValue, own: number, out: Levels): boolean {
    if (!this.sideLevels(this.cur, value, own, out)) return false;
    if (this.old === undefined || !this.sideLevels(this.old, value, own, this.oldLevels)) {
      return true;
    }
    combineLevels(out, this.oldLevels);
    return true;
  }

  private sideLevels(side: VoterRecords, value: VoterValue, own: number, out: Levels): boolean {
    const { scratch } = this;
    for (let i = 0; i < side.length; i++) scratch[i] = value(side[i], own);
    return levelsOf(scratch, side.length, out);
  }

  private recordsOf(voters: readonly RaftPeer[]): VoterRecords {
    return voters.map(({ id }) => {
      const record = this.records.get(id);
      assert(id === this.selfId || record !== undefined, `voter ${id} has no record`);
      return record;
    });
  }
}
