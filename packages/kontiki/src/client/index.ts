export {
  AdminApi,
  type SetConfigurationArguments,
  type TransferOptions,
} from './admin/admin-api.js';
export {
  type GroupAddOptions,
  GroupManagementApi,
  type GroupRemoveOptions,
} from './admin/group-management-api.js';
export { LeaderElectionManagementApi } from './admin/leader-election-management-api.js';
export { SnapshotManagementApi, type SnapshotOptions } from './admin/snapshot-management-api.js';
export { AsyncApi, type ReadOptions, type WriteOptions } from './async-api.js';
export { BlockingApi } from './blocking-api.js';
export type { ClientTls, RaftClientOptions } from './client-options.js';
export { MessageOutputStream, MessageStreamApi } from './message-stream.js';
export { type OutputStreamClient, RaftOutputStream } from './output-stream.js';
export { RaftClient } from './raft-client.js';
export type { CallOptions, MessageInput } from './request-types.js';
