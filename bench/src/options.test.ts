import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseOptions } from './options.js';

const DEFAULTS = { inFlight: 256, sizeBytes: 128, seconds: 15, warmupSeconds: 5 };

test('options that are not given are those of the workload', () => {
  const options = parseOptions([], DEFAULTS);
  assert.deepEqual(
    { ...options },
    {
      ...DEFAULTS,
      tls: true,
      directory: undefined,
      json: undefined,
      floors: true,
      properties: {},
    },
  );
});

test('reads options and keys', () => {
  const args = ['--plain', '--in-flight', '1', '-D', 'a=b=c', '-D', 'd=', '--skip-floors'];
  const options = parseOptions(args, DEFAULTS);
  assert.equal(options.tls, false);
  assert.equal(options.inFlight, 1);
  assert.equal(options.floors, false);
  assert.deepEqual(options.properties, { a: 'b=c', d: '' });
});

for (const args of [['--seconds', '0'], ['--size', 'x'], ['-D', 'key'], ['--unknown']]) {
  test(`refuses ${args.join(' ')}`, () => {
    assert.throws(() => parseOptions(args, DEFAULTS));
  });
}
