import type { AdminMethod } from '../../../proto/convert/index.js';

/** Full method paths that a server serves, and calls at its peers (spec: wire-grpc 1.2). */
const CLIENT_SERVICE = '/ratis.grpc.RaftClientProtocolService';
const SERVER_SERVICE = '/ratis.grpc.RaftServerProtocolService';
const ADMIN_SERVICE = '/ratis.grpc.AdminProtocolService';

export const Paths = {
  ordered: `${CLIENT_SERVICE}/ordered`,
  unordered: `${CLIENT_SERVICE}/unordered`,
  requestVote: `${SERVER_SERVICE}/requestVote`,
  startLeaderElection: `${SERVER_SERVICE}/startLeaderElection`,
  appendEntries: `${SERVER_SERVICE}/appendEntries`,
  installSnapshot: `${SERVER_SERVICE}/installSnapshot`,
  readIndex: `${SERVER_SERVICE}/readIndex`,
} as const;

export function adminPath(method: AdminMethod): string {
  return `${ADMIN_SERVICE}/${method}`;
}
