import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Logger, type LogLevel, NULL_LOGGER, withPrefix } from './logger.js';

test('prefixes messages, keeps fields, and leaves out levels that are off', () => {
  const lines: unknown[] = [];
  const base: Logger = {
    isEnabled: (level: LogLevel) => level !== 'debug',
    log: (level, message, fields) => lines.push([level, message, fields]),
  };
  const logger = withPrefix(base, 'n0');
  logger.log('info', 'started', { port: 1 });
  logger.log('debug', 'hidden');
  assert.deepEqual(lines, [['info', 'n0: started', { port: 1 }]]);
  assert.deepEqual([logger.isEnabled('warn'), logger.isEnabled('debug')], [true, false]);
});

test('drops everything in the null logger', () => {
  assert.equal(NULL_LOGGER.isEnabled('error'), false);
  assert.equal(NULL_LOGGER.log('error', 'x'), undefined);
});
