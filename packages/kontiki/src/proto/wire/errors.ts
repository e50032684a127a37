import { KontikiError } from '../../common/errors.js';

/**
 * Bytes that are no message of the protocol: truncated, with lengths or nesting that cannot be, or
 * with text that is not UTF-8. What a peer sent is to be refused; nothing was changed by it (spec:
 * wire-grpc 4.5).
 */
export class MalformedMessageError extends KontikiError {
  readonly code = 'KONTIKI_MALFORMED_MESSAGE';
}
