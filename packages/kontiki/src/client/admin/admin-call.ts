import { encodeAdminRequest } from '../../proto/convert/index.js';
import type { RaftException } from '../../protocol/exceptions.js';
import type { RaftGroupId, RaftPeerId } from '../../protocol/ids.js';
import type {
  AdminOperation,
  AdminRequest,
  RaftClientReply,
  RequestType,
} from '../../protocol/requests.js';
import { adminPathOf, decodeAdminReply } from '../../rpc/ratis/client/admin-codec.js';
import { deliver } from '../blocking.js';
import type { ClientCore } from '../client-core.js';
import { READ, writeType } from '../request-types.js';
import { RetryingCall } from '../retrying-call.js';

/** What one admin call is about. */
export interface AdminCall {
  readonly operation: AdminOperation;
  /** Undefined: the leader. */
  readonly serverId: RaftPeerId | undefined;
  /** Travels as it is; a server knows an admin request for the leader by it. */
  readonly toLeader: boolean;
  /** The client's own group when absent. */
  readonly groupId?: RaftGroupId;
  /** 0 is none. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

/** Nominal types of admin requests, for retry policies (spec: client 3.1). */
function nominalType(operation: AdminOperation): RequestType {
  const { kind } = operation;
  const writes = kind === 'setConfiguration' || kind === 'groupAdd' || kind === 'groupRemove';
  return writes ? writeType(0) : READ;
}

/** Deadline of one attempt (spec: wire-grpc 3.3). */
function attemptTimeoutMs(core: ClientCore, call: AdminCall): number {
  const { requestTimeoutMs } = core.settings;
  switch (call.operation.kind) {
    case 'transferLeadership':
      return requestTimeoutMs + (call.timeoutMs ?? 0);
    case 'snapshotCreate':
      // A deadline before the server's own answer would only hide that answer.
      return Math.max(requestTimeoutMs, (call.timeoutMs ?? 0) + SNAPSHOT_GRACE_MS);
    default:
      return requestTimeoutMs;
  }
}

/** Time for the answer to travel, after the server's time for a snapshot is over. */
const SNAPSHOT_GRACE_MS = 1_000;

function createRequest(
  core: ClientCore,
  call: AdminCall,
  callId: number,
  serverId: RaftPeerId,
): AdminRequest {
  return {
    clientId: core.clientId,
    serverId,
    groupId: call.groupId ?? core.groupId,
    callId,
    toLeader: call.toLeader,
    timeoutMs: call.timeoutMs ?? 0,
    operation: call.operation,
  };
}

function attemptOnce<R extends RaftClientReply>(
  core: ClientCore,
  call: AdminCall,
  callId: number,
  serverId: RaftPeerId,
  outcome: (error: RaftException | undefined, reply: R | undefined) => void,
): () => void {
  const request = createRequest(core, call, callId, serverId);
  const exchange = core.connections
    .get(serverId)
    .callAdmin(
      adminPathOf(call.operation),
      encodeAdminRequest(request),
      attemptTimeoutMs(core, call),
      (error, bytes) => {
        if (bytes === undefined) outcome(error, undefined);
        else deliver(bytes, (reply) => decodeAdminReply(call.operation, reply) as R, outcome);
      },
    );
  return () => exchange.cancel();
}

/**
 * Sends an admin request by the rules of blocking calls: tried until answered, with one call id
 * (spec: client 5, wire-grpc 8).
 */
export function sendAdmin<R extends RaftClientReply = RaftClientReply>(
  core: ClientCore,
  call: AdminCall,
): Promise<R> {
  const callId = core.callIds.next();
  const retrying = new RetryingCall<R>(core, {
    callId,
    serverId: call.serverId,
    toLeader: call.toLeader,
    content: undefined,
    type: nominalType(call.operation),
    isBlocking: true,
    isRetried: call.operation.kind !== 'groupList' && call.operation.kind !== 'groupInfo',
    booksReply: call.serverId === undefined,
    describe: () => `${call.operation.kind} request ${callId} of ${core.clientId}`,
    attempt: (serverId, outcome) => attemptOnce(core, call, callId, serverId, outcome),
  });
  return retrying.start(call.signal);
}
