import type { Logger } from '../common/logger.js';
import { RaftPeerRole, roleName } from '../protocol/peer.js';
import { INVALID_INDEX } from '../protocol/term-index.js';

/** What a division has when it opens. */
export interface OpenedState {
  readonly term: number;
  readonly startIndex: number;
  /** -1 when there is no entry. */
  readonly lastIndex: number;
  /** -1 when there is no snapshot. */
  readonly snapshotIndex: number;
}

/**
 * Tells operators what a division goes through. What repeats while nothing gets better, such as
 * elections without a majority and calls to a peer that is down, is told once, and then at level
 * debug.
 */
export class OperatorLog {
  readonly #logger: Logger;
  readonly #silentPeers = new Set<string>();
  /** An election since the last leader was told. */
  #isElecting = false;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  opened(state: OpenedState): void {
    const { term, startIndex, lastIndex, snapshotIndex } = state;
    const entries = lastIndex < startIndex ? 'no entries' : `entries ${startIndex} to ${lastIndex}`;
    const snapshot = snapshotIndex === INVALID_INDEX ? '' : `, snapshot at ${snapshotIndex}`;
    this.#logger.log('info', `opened at term ${term} with ${entries}${snapshot}`);
  }

  roleChanged(role: RaftPeerRole, term: number, reason: string | undefined): void {
    const isElection = role === RaftPeerRole.CANDIDATE || role === RaftPeerRole.FOLLOWER;
    const isRepeated = this.#isElecting && isElection && reason === undefined;
    const why = reason === undefined ? '' : ` (${reason})`;
    this.#logger.log(isRepeated ? 'debug' : 'info', `${roleName(role)} at term ${term}${why}`);
    this.#isElecting = isElection && (this.#isElecting || role === RaftPeerRole.CANDIDATE);
  }

  follows(leaderId: string, term: number): void {
    this.#isElecting = false;
    this.#logger.log('info', `follows ${leaderId}, the leader of term ${term}`);
  }

  noLeaderForLong(): void {
    this.#logger.log(
      'warn',
      'there is no leader: it takes a majority of the group, up and in reach',
    );
  }

  /** A peer did not take what it was sent. */
  peerFailed(peerId: string, reason: string): void {
    const isKnown = this.#silentPeers.has(peerId);
    this.#silentPeers.add(peerId);
    this.#logger.log(isKnown ? 'debug' : 'warn', `no answer from ${peerId}: ${reason}`);
  }

  peerAnswered(peerId: string): void {
    if (this.#silentPeers.delete(peerId)) this.#logger.log('info', `${peerId} answers again`);
  }
}
