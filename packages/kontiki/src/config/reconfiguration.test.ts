import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RaftProperties } from './raft-properties.js';
import {
  changeText,
  computeChanges,
  type Reconfigurable,
  ReconfigurationException,
  reconfigure,
} from './reconfiguration.js';

function properties(entries: Record<string, string>): RaftProperties {
  return RaftProperties.fromEntries(Object.entries(entries));
}

test('lists keys that changed, went and came, and no others', () => {
  const changes = computeChanges(
    properties({ same: '1', changed: '1', gone: '1' }),
    properties({ same: '1', changed: '2', fresh: '3' }),
  );
  assert.deepEqual(changes.map(changeText), [
    'changed from "1" to "2"',
    'gone from "1" to "<default>"',
    'fresh from "<default>" to "3"',
  ]);
});

test('applies every change, keeps effective values, and tells what failed', () => {
  const target: Reconfigurable = {
    properties: properties({ a: '1', gone: '1', fixed: '1', broken: '1' }),
    isPropertyReconfigurable: (name) => name !== 'fixed',
    reconfigureProperty: (name, newValue) => {
      if (name === 'broken') throw new RangeError('no');
      return newValue === undefined ? undefined : `<${newValue}>`;
    },
  };
  const results = reconfigure(target, properties({ a: '2', fixed: '2', broken: '2' }));
  assert.deepEqual(
    results.map(({ change, error }) => [change.name, error?.message]),
    [
      ['a', undefined],
      ['gone', undefined],
      ['fixed', 'Failed to change property fixed from "1" to "2": Property is not reconfigurable.'],
      ['broken', 'no'],
    ],
  );
  assert.ok(results[2]?.error instanceof ReconfigurationException);
  assert.deepEqual(
    [...target.properties.rawEntries()],
    [
      ['a', '<2>'],
      ['fixed', '1'],
      ['broken', '1'],
    ],
  );
});
