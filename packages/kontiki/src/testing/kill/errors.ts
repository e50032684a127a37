import { KontikiError } from '../../common/errors.js';

/** A value of the kill loop is not what was written. */
export class InvalidRecordError extends KontikiError {
  readonly code = 'KONTIKI_TESTING_INVALID_RECORD';
}
