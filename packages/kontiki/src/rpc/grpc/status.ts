import { constants, type IncomingHttpHeaders } from 'node:http2';
import { messageOf } from '../../common/errors.js';
import { type RpcStatus, StatusCode } from '../transport.js';
import { addMetadata, headerListBytes, readMetadata } from './metadata.js';
import { decodeMessage, encodeMessage, truncateMessage } from './percent.js';

/**
 * Bound of all trailers together. A Java peer refuses header lists of more than 8192 bytes (spec:
 * wire-grpc 4.3); the rest leaves room for the fields that a reply made of trailers only has in
 * front.
 */
export const MAX_TRAILER_BYTES = 8_000;

/** A status that is made at this end. */
export function localStatus(code: StatusCode, message: string, cause?: Error): RpcStatus {
  return cause === undefined
    ? { code, message, metadata: {} }
    : { code, message, metadata: {}, cause };
}

/**
 * The trailers of a status. Kept below MAX_TRAILER_BYTES: metadata that does not fit is left out,
 * then the message is cut. Metadata that cannot be sent at all turns the status into INTERNAL, so
 * that the peer always hears of the end.
 */
export function encodeTrailers(status: RpcStatus): Record<string, string> {
  const trailers: Record<string, string> = { 'grpc-status': String(status.code) };
  let message = status.message;
  let room = MAX_TRAILER_BYTES - headerListBytes(trailers);
  const fields: Record<string, string> = {};
  try {
    addMetadata(fields, status.metadata);
  } catch (error) {
    trailers['grpc-status'] = String(StatusCode.INTERNAL);
    message = `${messageOf(error)} (status was ${status.code}: ${message})`;
  }
  for (const [name, value] of Object.entries(fields)) {
    const size = headerListBytes({ [name]: value });
    if (size > room) delete fields[name];
    else room -= size;
  }
  if (message !== '') {
    const overhead = headerListBytes({ 'grpc-message': '' });
    trailers['grpc-message'] = truncateMessage(encodeMessage(message), room - overhead);
    if (room <= overhead) delete trailers['grpc-message'];
  }
  return Object.assign(trailers, fields);
}

/** The status in received trailers; undefined when they hold none. */
export function decodeTrailers(headers: IncomingHttpHeaders): RpcStatus | undefined {
  const text = headers['grpc-status'];
  if (typeof text !== 'string') return undefined;
  const message = headers['grpc-message'];
  const code = /^\d{1,2}$/.test(text) ? Number(text) : StatusCode.UNKNOWN;
  return {
    code: isStatusCode(code) ? code : StatusCode.UNKNOWN,
    message: typeof message === 'string' ? decodeMessage(message) : '',
    metadata: readMetadata(headers),
  };
}

function isStatusCode(code: number): code is StatusCode {
  return Number.isInteger(code) && code >= StatusCode.OK && code <= StatusCode.UNAUTHENTICATED;
}

/** The status of an HTTP answer that is not gRPC (the table of the gRPC protocol documents). */
export function statusOfHttp(httpStatus: number, contentType: string | undefined): RpcStatus {
  const type = contentType === undefined ? 'without content type' : `of type ${contentType}`;
  const text = `peer does not speak gRPC: HTTP status ${httpStatus}, body ${type}`;
  return localStatus(HTTP_CODES[httpStatus] ?? StatusCode.UNKNOWN, text);
}

const HTTP_CODES: Readonly<Record<number, StatusCode>> = {
  400: StatusCode.INTERNAL,
  401: StatusCode.UNAUTHENTICATED,
  403: StatusCode.PERMISSION_DENIED,
  404: StatusCode.UNIMPLEMENTED,
  429: StatusCode.UNAVAILABLE,
  502: StatusCode.UNAVAILABLE,
  503: StatusCode.UNAVAILABLE,
  504: StatusCode.UNAVAILABLE,
};

const RESET_CODES: Readonly<Record<number, StatusCode>> = {
  [constants.NGHTTP2_REFUSED_STREAM]: StatusCode.UNAVAILABLE,
  [constants.NGHTTP2_CANCEL]: StatusCode.CANCELLED,
  [constants.NGHTTP2_ENHANCE_YOUR_CALM]: StatusCode.RESOURCE_EXHAUSTED,
  [constants.NGHTTP2_INADEQUATE_SECURITY]: StatusCode.PERMISSION_DENIED,
};

const RESET_NAMES: Readonly<Record<number, string>> = {
  0: 'NO_ERROR',
  1: 'PROTOCOL_ERROR',
  2: 'INTERNAL_ERROR',
  3: 'FLOW_CONTROL_ERROR',
  5: 'STREAM_CLOSED',
  6: 'FRAME_SIZE_ERROR',
  7: 'REFUSED_STREAM',
  8: 'CANCEL',
  9: 'COMPRESSION_ERROR',
  11: 'ENHANCE_YOUR_CALM',
  12: 'INADEQUATE_SECURITY',
};

/** The status of a stream that the peer reset with an HTTP/2 error code. */
export function statusOfReset(http2Code: number, cause?: Error): RpcStatus {
  const name = RESET_NAMES[http2Code] ?? `code ${http2Code}`;
  const code = RESET_CODES[http2Code] ?? StatusCode.INTERNAL;
  return localStatus(code, `peer reset the stream: ${name}`, cause);
}
