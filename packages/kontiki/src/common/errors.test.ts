import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  AssertionFailedError,
  assert as assertThat,
  InvalidArgumentError,
  messageOf,
  toError,
} from './errors.js';

test('names an error by its class and keeps its cause', () => {
  const cause = new Error('inner');
  const error = new InvalidArgumentError('outer', { cause });
  assert.equal(error.name, 'InvalidArgumentError');
  assert.equal(error.code, 'KONTIKI_INVALID_ARGUMENT');
  assert.equal(error.cause, cause);
  assert.ok(error instanceof Error);
});

test('throws when an assertion does not hold, and only then', () => {
  assert.doesNotThrow(() => assertThat(true, 'fine'));
  assert.throws(() => assertThat(false, 'broken'), AssertionFailedError);
});

test('gives the message of anything thrown', () => {
  assert.deepEqual(
    [messageOf(new Error('m')), messageOf('text'), messageOf(undefined)],
    ['m', 'text', 'undefined'],
  );
});

test('leaves an error as it is and wraps what is none', () => {
  const error = new TypeError('m');
  assert.equal(toError(error), error);
  assert.equal(toError(5).message, '5');
});
