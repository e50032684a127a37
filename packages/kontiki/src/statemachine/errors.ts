import { KontikiError } from '../common/errors.js';

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
