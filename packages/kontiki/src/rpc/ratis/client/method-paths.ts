/** Full method paths that a client calls (spec: wire-grpc 1.2). */

const CLIENT_SERVICE = '/ratis.grpc.RaftClientProtocolService';

export const ORDERED_PATH = `${CLIENT_SERVICE}/ordered`;
export const UNORDERED_PATH = `${CLIENT_SERVICE}/unordered`;
export const ADMIN_SERVICE = '/ratis.grpc.AdminProtocolService';
