/**
 * The server: hosts any number of groups, one `Division` each.
 *
 * - A `Division` opens its storage (`division-open.ts`) and hands what it found to a
 *   `DivisionCore`, which wires the parts together. Its `Driver` gives the engine one input at a
 *   time, has the `CommandRunner` carry out what the engine says, then lets appenders and updater
 *   work, until nothing is left.
 * - A client's write goes through `ClientRequests` and `WriteRequests` into the log, by `Appender`s
 *   to the followers, and once it is committed through the `Updater` to the state machine; its
 *   `PendingWrite` brings the reply back.
 * - What comes over the network arrives through the services of `rpc/ratis/server`, which know this
 *   layer by `handler.ts` only.
 */
export { Division, type LifeCycleState } from './division.js';
export type { BoundAddress, TlsSlots } from './listeners.js';
export { RaftServer } from './raft-server.js';
export type { RaftServerOptions } from './raft-server-options.js';
