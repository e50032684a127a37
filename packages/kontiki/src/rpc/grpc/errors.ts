import { KontikiError } from '../../common/errors.js';

/**
 * A TLS slot cannot be used: unreadable PEM text, missing key, chain or trust certificates (spec:
 * wire-grpc 9.1).
 */
export class TlsConfigurationError extends KontikiError {
  readonly code = 'KONTIKI_TLS_CONFIGURATION';
}

/**
 * A connection could not be made, or was lost. The message starts with the target and names the
 * step that failed.
 */
export class ConnectionError extends KontikiError {
  readonly code = 'KONTIKI_CONNECTION';
}
