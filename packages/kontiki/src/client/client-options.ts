import type { Logger } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import type { RaftProperties } from '../config/raft-properties.js';
import type { RaftGroup } from '../protocol/group.js';
import type { ClientId, RaftPeerId } from '../protocol/ids.js';
import type { RetryPolicy } from '../protocol/retry/policy.js';
import type { RpcTransport, TlsOptions, TransportLimits } from '../rpc/transport.js';
import type { ClientSettings } from './client-core.js';

/**
 * TLS slots of a client; an unset one falls back to `default`, and that to plain text (spec:
 * wire-grpc 9.2).
 */
export interface ClientTls {
  readonly default?: TlsOptions;
  readonly client?: TlsOptions;
  /** Only for admin calls to a server whose admin address differs from its client address. */
  readonly admin?: TlsOptions;
}

/** What RaftClient.create takes (spec: client 2). */
export interface RaftClientOptions {
  /** The group and where to find it; needs at least one peer. */
  readonly group: RaftGroup;
  /** Random when absent. */
  readonly clientId?: ClientId;
  /** First guess of the leader. */
  readonly leaderId?: RaftPeerId;
  readonly properties?: RaftProperties;
  readonly tls?: ClientTls;
  /** Retry for ever when absent, without sleep but paced: see the documentation of RaftClient. */
  readonly retryPolicy?: RetryPolicy;
  /** gRPC when absent. */
  readonly transport?: RpcTransport;
  readonly runtime?: Runtime;
  readonly logger?: Logger;
}

/** Pauses between attempts to reach a server that cannot be reached. */
const RECONNECT_BACKOFF_MIN_MS = 100;
const RECONNECT_BACKOFF_MAX_MS = 1_000;
const CONNECT_TIMEOUT_MS = 3_000;
const SEND_BUFFER_BYTES = 1 << 20;
/** Java's trailers hold stack traces beyond 8 KiB (spec: wire-grpc 4.3). */
const MAX_HEADER_LIST_BYTES = 64 * 1024;

export function settingsOf(properties: RaftProperties): ClientSettings {
  return {
    requestTimeoutMs: properties.get('raft.client.rpc.request.timeout'),
    watchRequestTimeoutMs: properties.get('raft.client.rpc.watch.request.timeout'),
    maxOutstandingRequests: properties.get('raft.client.async.outstanding-requests.max'),
    sendDummyRequest: properties.get('raft.client.async.experimental.send-dummy-request'),
    maxMessageBytes: properties.get('raft.grpc.message.size.max'),
    submessageBytes: properties.get('raft.client.message-stream.submessage-size'),
  };
}

/**
 * Limits of the client's channels. No keepalive pings: Java servers punish them (spec: wire-grpc
 * 3.1).
 */
export function limitsOf(properties: RaftProperties): TransportLimits {
  const maxMessageBytes = properties.get('raft.grpc.message.size.max');
  return {
    maxInboundMessageBytes: maxMessageBytes,
    maxOutboundMessageBytes: maxMessageBytes,
    flowControlWindowBytes: properties.get('raft.grpc.flow.control.window'),
    sendBufferBytes: SEND_BUFFER_BYTES,
    maxHeaderListBytes: MAX_HEADER_LIST_BYTES,
    keepaliveTimeMs: 0,
    keepaliveTimeoutMs: 20_000,
    reconnectBackoffMinMs: RECONNECT_BACKOFF_MIN_MS,
    reconnectBackoffMaxMs: RECONNECT_BACKOFF_MAX_MS,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
  };
}
