import { InvalidArgumentError, messageOf } from '../../common/errors.js';
import { RaftException, RaftIOException } from '../../protocol/exceptions.js';
import type { CallId } from '../../protocol/ids.js';
import { exceptionOfClass, travelsByClass } from './exception-class.js';
import { toCallId } from './numbers.js';

/** Names of the trailers that tell an exception (spec: wire-grpc 4.1). */
export const EXCEPTION_TYPE_TRAILER = 'exception-type';
export const CALL_ID_TRAILER = 'call-id';
export const HEARTBEAT_TRAILER = 'heartbeat';

/**
 * A Java peer refuses trailers beyond 8192 bytes in all; this leaves room for the others (spec:
 * wire-grpc 4.3).
 */
const MAX_ENCODED_MESSAGE_BYTES = 6000;
const IO_EXCEPTION = 'java.io.IOException';

/** The request that failed, on appendEntries and installSnapshot. */
export interface FailedCall {
  readonly callId: CallId;
  /** Undefined where the method has no heartbeats. */
  readonly heartbeat: boolean | undefined;
}

function javaClassOf(error: unknown): string {
  if (error instanceof RaftException) {
    return travelsByClass(error.javaClass) ? error.javaClass : IO_EXCEPTION;
  }
  if (error instanceof InvalidArgumentError) return 'java.lang.IllegalArgumentException';
  return IO_EXCEPTION;
}

/** Bytes of one character, percent-encoded. */
function encodedSize(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x80) return code < 0x20 || code > 0x7e || code === 0x25 ? 3 : 1;
  if (code < 0x800) return 6;
  return code < 0x1_0000 ? 9 : 12;
}

function truncated(message: string): string {
  let size = 0;
  let length = 0;
  for (const character of message) {
    size += encodedSize(character);
    if (size > MAX_ENCODED_MESSAGE_BYTES) return `${message.slice(0, length)}...`;
    length += character.length;
  }
  return message;
}

/**
 * How an error ends a call: the text for `grpc-message`, and the trailers (spec: wire-grpc 4.3).
 * The status code is INTERNAL. Errors that Java cannot make from a message travel as IOException.
 */
export function trailersOfException(
  error: unknown,
  failed?: FailedCall,
): { message: string; metadata: Record<string, string> } {
  const metadata: Record<string, string> = { [EXCEPTION_TYPE_TRAILER]: javaClassOf(error) };
  if (failed !== undefined) {
    if (failed.callId > 0) metadata[CALL_ID_TRAILER] = String(failed.callId);
    if (failed.heartbeat !== undefined) metadata[HEARTBEAT_TRAILER] = String(failed.heartbeat);
  }
  return { message: truncated(messageOf(error)), metadata };
}

/**
 * The exception that trailers tell, undefined when they tell none. A class that is not known here
 * gives a RaftIOException (spec: wire-grpc 4.2). `cause` is what the transport knows of the
 * failure.
 */
export function exceptionOfTrailers(
  metadata: Readonly<Record<string, string | Uint8Array>>,
  message: string,
  cause?: unknown,
): RaftException | undefined {
  const javaClass = metadata[EXCEPTION_TYPE_TRAILER];
  if (typeof javaClass !== 'string') return undefined;
  const known = exceptionOfClass(javaClass, message, cause);
  if (known !== undefined) return known;
  const text = message === '' ? javaClass : `${javaClass}: ${message}`;
  return new RaftIOException(text, cause === undefined ? undefined : { cause });
}

/**
 * Which request the trailers say has failed; undefined when they do not name one (spec: wire-grpc
 * 4.1, 4.2).
 */
export function failedCallOfTrailers(
  metadata: Readonly<Record<string, string | Uint8Array>>,
): FailedCall | undefined {
  const callId = metadata[CALL_ID_TRAILER];
  if (typeof callId !== 'string' || !/^[0-9]{1,20}$/.test(callId)) return undefined;
  const heartbeat = metadata[HEARTBEAT_TRAILER];
  return {
    callId: toCallId(BigInt(callId)),
    heartbeat: typeof heartbeat === 'string' ? heartbeat.toLowerCase() === 'true' : undefined,
  };
}
