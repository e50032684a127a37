import type { Settings } from 'node:http2';
import type { TransportLimits } from '../transport.js';

/**
 * Least header list that is advertised: Java's trailers with serialized stack traces need it (spec:
 * wire-grpc 4.3).
 */
const MIN_HEADER_LIST_BYTES = 65_536;

/** Memory that nghttp2 may use for one connection (headers, control frames, queues), megabytes. */
const MAX_SESSION_MEMORY_MB = 64;

/** What Java servers announce. */
const MAX_CONCURRENT_STREAMS = 2_147_483_647;

const MAX_WINDOW_BYTES = 2_147_483_647;

/**
 * Java sends no `date` header. (An option of Node's `respond` that its type declarations leave
 * out.)
 */
export const NO_DATE = { sendDate: false } as const;

/** The HTTP/2 window of streams and connections, within what the protocol allows. */
export function windowBytes(limits: TransportLimits): number {
  return Math.min(MAX_WINDOW_BYTES, Math.max(65_535, limits.flowControlWindowBytes));
}

/** SETTINGS of both ends (spec: wire-grpc 3.1). */
export function http2Settings(limits: TransportLimits, server: boolean): Settings {
  return {
    initialWindowSize: windowBytes(limits),
    maxHeaderListSize: Math.max(MIN_HEADER_LIST_BYTES, limits.maxHeaderListBytes),
    ...(server ? { maxConcurrentStreams: MAX_CONCURRENT_STREAMS } : { enablePush: false }),
  };
}

/**
 * Limits of one HTTP/2 session. Java cancels calls as a matter of course, so later Node versions
 * are told to bear many resets before they end the session (older ones ignore the two stream reset
 * options).
 */
export function http2SessionOptions(limits: TransportLimits, server: boolean) {
  return {
    settings: http2Settings(limits, server),
    maxSessionMemory: MAX_SESSION_MEMORY_MB,
    maxDeflateDynamicTableSize: 4_096,
    maxOutstandingPings: 10,
    streamResetBurst: 100_000,
    streamResetRate: 10_000,
  };
}
