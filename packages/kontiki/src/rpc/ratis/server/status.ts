import {
  exceptionOfTrailers,
  type FailedCall,
  trailersOfException,
} from '../../../proto/convert/index.js';
import { MalformedMessageError } from '../../../proto/wire/index.js';
import { RaftIOException, TimeoutIOException } from '../../../protocol/exceptions.js';
import { type RpcStatus, StatusCode } from '../../transport.js';

/**
 * What a message that can't be read is answered with: no exception travels (spec: wire-grpc 4.5).
 */
const UNREADABLE: RpcStatus = {
  code: StatusCode.UNKNOWN,
  message: 'Application error processing RPC',
  metadata: {},
};

/** The status that an error ends a call with (spec: wire-grpc 4.3). */
export function statusOfError(error: Error, failed?: FailedCall): RpcStatus {
  if (error instanceof MalformedMessageError) return UNREADABLE;
  const { message, metadata } = trailersOfException(error, failed);
  return { code: StatusCode.INTERNAL, message, metadata };
}

/** The error that a status tells (spec: wire-grpc 4.2). */
export function errorOfStatus(status: RpcStatus): Error {
  if (status.code === StatusCode.DEADLINE_EXCEEDED) return new TimeoutIOException(status.message);
  return (
    exceptionOfTrailers(status.metadata, status.message, status.cause) ??
    new RaftIOException(
      `call ended with status ${status.code}: ${status.message}`,
      status.cause === undefined ? undefined : { cause: status.cause },
    )
  );
}
