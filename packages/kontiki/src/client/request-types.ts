import { ReplicationLevel, type RequestType } from '../protocol/requests.js';

/**
 * Ends a call early: its promise rejects with the signal's reason at once. The request may have
 * been, or still be, carried out.
 */
export interface CallOptions {
  readonly signal?: AbortSignal;
}

/**
 * What users hand in as message: bytes, or text that is sent as UTF-8. The bytes must not be
 * changed before the call has settled.
 */
export type MessageInput = Uint8Array | string;

const encoder = new TextEncoder();

export function messageBytes(message: MessageInput): Uint8Array {
  return typeof message === 'string' ? encoder.encode(message) : message;
}

const WRITES: readonly RequestType[] = Object.values(ReplicationLevel).map((replication) =>
  Object.freeze({ kind: 'write', replication }),
);

export function writeType(replication: ReplicationLevel): RequestType {
  return WRITES[replication] ?? { kind: 'write', replication };
}

function readType(flags: {
  readonly preferNonLinearizable?: boolean;
  readonly readAfterWriteConsistent?: boolean;
}): RequestType {
  return Object.freeze({
    kind: 'read',
    preferNonLinearizable: flags.preferNonLinearizable ?? false,
    readAfterWriteConsistent: flags.readAfterWriteConsistent ?? false,
    dummy: false,
  });
}

export const READ: RequestType = readType({});
export const READ_NON_LINEARIZABLE: RequestType = readType({ preferNonLinearizable: true });
export const READ_AFTER_WRITE: RequestType = readType({ readAfterWriteConsistent: true });
export const FORWARD: RequestType = Object.freeze({ kind: 'forward' });
/** The watch that opens the first window (spec: client 9). */
export const DUMMY_WATCH: RequestType = Object.freeze({
  kind: 'watch',
  index: 0,
  replication: ReplicationLevel.MAJORITY,
});
