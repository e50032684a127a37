import { assert } from '../common/errors.js';
import { type RaftConfiguration, sameConfiguration } from '../protocol/configuration.js';
import type { RaftPeerId } from '../protocol/ids.js';
import { RaftPeerRole } from '../protocol/peer.js';
import { isListener, isVoter } from './quorum.js';

type FollowerRole = typeof RaftPeerRole.FOLLOWER | typeof RaftPeerRole.LISTENER;

const NO_PEERS: RaftConfiguration = {
  cur: { voters: [], listeners: [] },
  old: undefined,
  index: -1,
};

/**
 * Configurations by log index; the one of the greatest index is in force (spec: consensus 0.3, C-1
 * to C-4).
 */
export class Configurations {
  private readonly history: RaftConfiguration[];

  constructor(known: readonly RaftConfiguration[]) {
    const byIndex = new Map(known.map((conf) => [conf.index, conf]));
    this.history = [...byIndex.values()].sort((a, b) => a.index - b.index);
    if (this.history.length === 0) this.history.push(NO_PEERS);
  }

  get current(): RaftConfiguration {
    return this.history[this.history.length - 1] as RaftConfiguration;
  }

  /** An index that is known already must bring an equal configuration (spec: H-20). */
  add(conf: RaftConfiguration): void {
    const { current } = this;
    if (conf.index === current.index) {
      assert(sameConfiguration(conf, current), `two configurations at index ${conf.index}`);
      return;
    }
    if (conf.index < current.index) this.addBehind(conf);
    else this.history.push(conf);
  }

  /**
   * The configuration of a leader that came with a snapshot: it may stand in the log far behind
   * what is known here, or replace what is known at the same index and above (spec: consensus 5.3).
   * True if another one is in force.
   */
  adopt(conf: RaftConfiguration): boolean {
    const before = this.current;
    this.removeFrom(conf.index);
    if (this.current.index >= conf.index) this.history.splice(0, this.history.length, conf);
    else this.history.push(conf);
    return !sameConfiguration(before, this.current);
  }

  /** The one in force came with a snapshot, and the log catches up with it. */
  private addBehind(conf: RaftConfiguration): void {
    const at = this.history.findIndex((known) => known.index >= conf.index);
    const known = this.history[at];
    if (known?.index === conf.index) this.history[at] = conf;
    else this.history.splice(at, 0, conf);
  }

  /**
   * Drops configurations at `index` and above; the first one stays (spec: C-3). True if the one in
   * force changed.
   */
  removeFrom(index: number): boolean {
    const { current } = this;
    while (this.history.length > 1 && this.current.index >= index) this.history.pop();
    return this.current !== current;
  }

  /**
   * The server has a vote: as a voter of the configuration in force, or of the one before it until
   * the present one is known to be committed. A leader that leaves the group may be the only one
   * whose log can win an election then (dissertation on Raft, 4.2.2).
   */
  hasVote(id: RaftPeerId, commitIndex: number): boolean {
    const { current, history } = this;
    if (isVoter(current, id)) return true;
    const before = history[history.length - 2];
    return before !== undefined && current.index > commitIndex && isVoter(before, id);
  }

  /** The server votes, or at least listens, so it may run without a leader (spec: 1.3). */
  isMember(id: RaftPeerId, commitIndex: number): boolean {
    return isListener(this.current, id) || this.hasVote(id, commitIndex);
  }

  /**
   * Role that a server without office has (spec: H-6, consensus 2.10). A voter of either side has
   * to vote: the old side's until the change is complete and committed, and the new side's as soon
   * as its majority counts, or one failure more would leave nobody to elect. Who is no member keeps
   * the present role.
   */
  roleOf(id: RaftPeerId, commitIndex: number, present: RaftPeerRole): FollowerRole {
    const { FOLLOWER, LISTENER } = RaftPeerRole;
    if (this.hasVote(id, commitIndex)) return FOLLOWER;
    return isListener(this.current, id) || present === LISTENER ? LISTENER : FOLLOWER;
  }

  /** Forgets what can never be in force again, because a later configuration is committed. */
  settle(commitIndex: number): void {
    let settled = 0;
    while (settled + 1 < this.history.length) {
      if ((this.history[settled + 1] as RaftConfiguration).index > commitIndex) break;
      settled++;
    }
    if (settled > 0) this.history.splice(0, settled);
  }
}
