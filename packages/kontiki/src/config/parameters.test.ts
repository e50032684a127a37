import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Parameters } from './parameters.js';

class Settings {
  readonly port = 1;
}

test('gives an object back by its key, and the previous one when it is replaced', () => {
  const parameters = new Parameters();
  const first = new Settings();
  assert.equal(parameters.put('k', first), undefined);
  assert.equal(parameters.get('k', Settings), first);
  assert.equal(parameters.put('k', new Settings()), first);
});

test('refuses an object of another class', () => {
  const parameters = new Parameters();
  parameters.put('k', new Settings());
  assert.throws(() => parameters.get('k', Map), { code: 'KONTIKI_CONFIG_INVALID', key: 'k' });
});

test('tells an absent object, or refuses it where one is needed', () => {
  const parameters = new Parameters();
  assert.equal(parameters.get('k', Settings), undefined);
  assert.throws(() => parameters.getNonNull('k', Settings), /k is not set/);
});
