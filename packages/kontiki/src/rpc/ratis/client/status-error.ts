import { KontikiError } from '../../../common/errors.js';
import { exceptionOfTrailers } from '../../../proto/convert/index.js';
import {
  AlreadyClosedException,
  type RaftException,
  RaftIOException,
  TimeoutIOException,
} from '../../../protocol/exceptions.js';
import { type RpcStatus, StatusCode } from '../../transport.js';

/** A call or stream that ended with a gRPC status other than OK. */
export class RpcStatusError extends KontikiError {
  readonly code = 'KONTIKI_RPC_STATUS';
  readonly status: RpcStatus;

  constructor(status: RpcStatus, target: string) {
    const name = Object.entries(StatusCode).find(([, code]) => code === status.code)?.[0];
    super(
      `${target}: ${name ?? status.code}${status.message === '' ? '' : `: ${status.message}`}`,
      status.cause === undefined ? undefined : { cause: status.cause },
    );
    this.status = status;
  }
}

/** The exception that a status other than OK stands for (spec: wire-grpc 4.2, client 4.1). */
export function failureOf(status: RpcStatus, target: string): RaftException {
  const statusError = new RpcStatusError(status, target);
  if (status.code === StatusCode.DEADLINE_EXCEEDED) {
    return new TimeoutIOException(statusError.message, { cause: statusError });
  }
  return (
    exceptionOfTrailers(status.metadata, status.message, statusError) ??
    new RaftIOException(statusError.message, { cause: statusError })
  );
}

/** An I/O failure found at this end. */
export function streamFailure(message: string, cause: Error): RaftException {
  return new RaftIOException(`${message}: ${cause.message}`, { cause });
}

/**
 * Whether the connection is worth replacing after `error` (spec: client 4.1): the status says that
 * the transport failed, or something in the chain of causes is a lost or closed connection or a
 * timeout. An exception that the server reported in its trailers came over a connection that works.
 */
export function shouldReconnect(error: Error): boolean {
  const status = error.cause instanceof RpcStatusError ? error.cause.status : undefined;
  if (status !== undefined && status.metadata['exception-type'] === undefined) return true;
  let current: unknown = error;
  for (let depth = 0; current instanceof Error && depth < 16; depth++) {
    if (current instanceof AlreadyClosedException || current instanceof TimeoutIOException) {
      return true;
    }
    current = current.cause;
  }
  return false;
}

/** A status made at this end because no connection could be had or it was lost. */
export function isConnectionLoss(status: RpcStatus): boolean {
  return status.code === StatusCode.UNAVAILABLE && status.cause !== undefined;
}
