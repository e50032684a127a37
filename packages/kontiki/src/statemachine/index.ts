export { BaseStateMachine, type BaseStateMachineOptions } from './base-state-machine.js';
export {
  SnapshotNotSupportedError,
  StateMachineFailedError,
  StateMachineNotInitializedError,
} from './errors.js';
export {
  parseSnapshotFileName,
  SimpleSnapshotStorage,
  type SnapshotContent,
  snapshotFileName,
} from './simple-snapshot-storage.js';
export type * from './types.js';
