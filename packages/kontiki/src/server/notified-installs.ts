import { messageOf } from '../common/errors.js';
import { allPeers } from '../protocol/configuration.js';
import type { InstallSnapshotRequest } from '../protocol/server-messages.js';
import { InstallSnapshotResult } from '../protocol/server-messages.js';
import { INVALID_INDEX, type TermIndex } from '../protocol/term-index.js';
import type { DivisionParts } from './division-parts.js';
import { roleInfoOf } from './role-info.js';
import type { SnapshotReload } from './snapshot-reload.js';

type Answer = readonly [result: InstallSnapshotResult, snapshotIndex: number];

const { ALREADY_INSTALLED, IN_PROGRESS, SNAPSHOT_INSTALLED, SNAPSHOT_UNAVAILABLE } =
  InstallSnapshotResult;

/**
 * Snapshots that the state machine fetches by itself, told to by the leader (spec: consensus 5.4).
 * The leader asks again until it is done.
 */
export class NotifiedInstalls {
  readonly #parts: DivisionParts;
  readonly #reload: SnapshotReload;
  readonly #failReads: () => void;
  /** First index that the leader had when the state machine was told; -1: it is not at work. */
  #firstIndex = INVALID_INDEX;
  #outcome: { readonly installed: TermIndex | undefined } | undefined;

  constructor(parts: DivisionParts, reload: SnapshotReload, failReads: () => void) {
    this.#parts = parts;
    this.#reload = reload;
    this.#failReads = failReads;
  }

  get inProgress(): boolean {
    return this.#firstIndex !== INVALID_INDEX;
  }

  async take(request: InstallSnapshotRequest, first: TermIndex): Promise<Answer> {
    if (!this.inProgress) {
      const own = this.#parts.stateMachine.getLatestSnapshot()?.termIndex.index ?? INVALID_INDEX;
      if (own >= 0 && first.index >= 0 && own + 1 >= first.index) return [ALREADY_INSTALLED, own];
      await this.#tell(request, first);
    }
    // A new leader may have more of the log than the one before (spec: H-14).
    if (!this.inProgress || first.index < this.#firstIndex) return [IN_PROGRESS, 0];
    const outcome = this.#outcome;
    if (outcome === undefined) return [IN_PROGRESS, 0];
    this.#outcome = undefined;
    if (outcome.installed === undefined) {
      await this.#finish();
      this.#event('SNAPSHOT_UNAVAILABLE', INVALID_INDEX);
      return [SNAPSHOT_UNAVAILABLE, 0];
    }
    const { index } = outcome.installed;
    await this.#reload.install(outcome.installed, undefined);
    await this.#finish();
    this.#event('SNAPSHOT_INSTALLED', index);
    return [SNAPSHOT_INSTALLED, index];
  }

  async #tell(request: InstallSnapshotRequest, first: TermIndex): Promise<void> {
    const { engine, stateMachine, logger } = this.#parts;
    this.#firstIndex = first.index;
    await this.#reload.inTurn(() => engine.setInstalling(true));
    this.#failReads();
    logger.log('info', `${request.requestorId} has the log from ${first.index} on only`);
    const failed = (error: unknown): void => {
      logger.log('error', `fetching a snapshot failed: ${messageOf(error)}`, { error });
      // The leader tells again, and the state machine tries anew (spec: H-14).
      void this.#finish().catch(() => undefined);
    };
    try {
      const fetching = stateMachine.events?.notifyInstallSnapshotFromLeader?.(
        roleInfoOf(this.#parts),
        first,
      );
      if (fetching === undefined) this.#outcome = { installed: undefined };
      else {
        fetching.then((installed) => {
          this.#outcome = { installed };
        }, failed);
      }
    } catch (error) {
      failed(error);
    }
  }

  async #finish(): Promise<void> {
    this.#firstIndex = INVALID_INDEX;
    const { engine } = this.#parts;
    await this.#reload.inTurn(() => engine.setInstalling(false));
  }

  #event(result: string, index: number): void {
    const { stateMachine, engine, selfId, logger } = this.#parts;
    const self = allPeers(engine.configuration).find((peer) => peer.id === selfId);
    if (self === undefined) return;
    try {
      stateMachine.events?.notifySnapshotInstalled?.(result, index, self);
    } catch (error) {
      logger.log('error', `an event failed: ${messageOf(error)}`, { error });
    }
  }
}
