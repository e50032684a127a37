import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kontikiProcess } from '../cli.test-support.js';

test('the demonstration loses nothing when it kills the leader, and says so', async () => {
  const { code, out, err } = await kontikiProcess('demo');
  assert.equal(err, '');
  assert.equal(code, 0);
  assert.match(out, /killed (n\d), the leader of [^\n]*, with SIGKILL\n[\s\S]*started \1 again\n/);
  assert.match(out, /every acknowledged write is there exactly once\n/);
  assert.match(out, /SHA-256 of 2 files is right on the disk of each server\n/);
  assert.match(out, /\nresult {12}nothing lost, nothing applied twice\n$/);
});
