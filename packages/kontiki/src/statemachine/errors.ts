import { KontikiError, messageOf } from '../common/errors.js';

/**
 * There is a snapshot on disk, but the state machine has no `restore` or `loadSnapshot` to read it.
 */
export class SnapshotNotSupportedError extends KontikiError {
  readonly code = 'KONTIKI_SNAPSHOT_NOT_SUPPORTED';
}

/** A state machine was used before `initialize`. */
export class StateMachineNotInitializedError extends KontikiError {
  readonly code = 'KONTIKI_STATE_MACHINE_NOT_INITIALIZED';
}

/**
 * `applyTransaction` threw something that is no StateMachineException, so the state may not be what
 * other servers have: the group is not served any more (spec: consensus 6.1). Mend the state
 * machine, so that it takes the entry, and start again. What a client did wrong is told by
 * `context.exception` in `startTransaction`, or by a StateMachineException.
 */
export class StateMachineFailedError extends KontikiError {
  readonly code = 'KONTIKI_STATE_MACHINE_FAILED';
  readonly logIndex: number;

  constructor(logIndex: number, cause: unknown) {
    super(`applying entry ${logIndex} failed: ${messageOf(cause)}`, { cause });
    this.logIndex = logIndex;
  }
}
