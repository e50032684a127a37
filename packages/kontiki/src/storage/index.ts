/**
 * What a server keeps on disk (spec: storage): per group a storage root with its lock, term and
 * vote, configuration, and the log in segments. Byte-compatible with the Java implementation in
 * both directions.
 *
 * - `openStorage` chooses the volume, takes the lock, formats or recovers. `discoverGroups` finds
 *   groups on disk, `removeGroupStorage` disposes of one.
 * - `openLog` loads the segments, repairs what a crash left and gives a `RaftLog`; `MemoryRaftLog`
 *   is the one without files.
 * - Errors of `errors.ts` all have stable codes; a log that failed once stays failed until it is
 *   opened again.
 *
 * Data walks: `RaftLog.append` -> headers in `Segment`, bodies in `SegmentCache`, records encoded
 * into a `WriteBatch` -> `LogWriter`, the only writer of the files, takes batch after batch: state
 * machine data first, then one write and one sync through `SegmentWriter` ->
 * `RaftLogListener.onFlushed`.
 */
export * from './errors.js';
export { type IncomingOptions, IncomingSnapshot } from './incoming-snapshot.js';
export { type MemoryLogOptions, MemoryRaftLog, openMemoryLog } from './memory-log.js';
export { type OpenLogOptions, openLog } from './open-log.js';
export { recordSize } from './segment-format.js';
export {
  discardIncoming,
  incomingDirectory,
  repairSnapshotSwap,
  type SwapOptions,
  swapSnapshot,
} from './snapshot-swap.js';
export {
  discoverGroups,
  openStorage,
  type RemoveGroupOptions,
  removeGroupStorage,
  type StorageContext,
} from './storage-directory.js';
export type * from './types.js';
