import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fromBinary, toBinary, toJson } from '@bufbuild/protobuf';
import { HOT_MESSAGES } from './hot-messages.test-support.js';
import { loadVectors, schemaOf, toHex } from './vectors.test-support.js';

const vectors = loadVectors();

/** Long stack traces are cut in the expectation: `<start>...(trimmed, <n> base64 characters)`. */
function cutLike(actual: unknown, expected: unknown): unknown {
  if (typeof expected === 'string' && typeof actual === 'string') {
    const cut = /^(.*)\.\.\.\(trimmed, (\d+) base64 characters\)$/.exec(expected);
    if (cut === null) return actual;
    const [, start = ''] = cut;
    return `${actual.slice(0, start.length)}...(trimmed, ${actual.length} base64 characters)`;
  }
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.map((item, i) => cutLike(item, expected[i]));
  }
  if (typeof actual === 'object' && actual !== null && typeof expected === 'object') {
    const wanted = (expected ?? {}) as Record<string, unknown>;
    return Object.fromEntries(
      Object.entries(actual).map(([key, value]) => [key, cutLike(value, wanted[key])]),
    );
  }
  return actual;
}

describe('Messages of a Java peer', () => {
  it('are all there', () => {
    assert.equal(vectors.length, 691);
    assert.equal(new Set(vectors.map((vector) => vector.type)).size, 21);
  });

  it('decode with the generated code to their JSON form and encode to the same bytes', () => {
    for (const { name, type, bytes, json } of vectors) {
      const schema = schemaOf(type);
      const message = fromBinary(schema, bytes);
      assert.deepEqual(cutLike(toJson(schema, message), json), json, name);
      assert.equal(toHex(toBinary(schema, message)), toHex(bytes), name);
    }
  });

  for (const hot of HOT_MESSAGES) {
    it(`decode and encode alike with the hand codec: ${hot.type}`, () => {
      const own = vectors.filter((vector) => vector.type === hot.type);
      assert.ok(own.length > 20);
      for (const { name, bytes } of own) {
        assert.deepEqual(hot.decode(bytes), hot.flatten(bytes), name);
        assert.equal(toHex(hot.recode(bytes)), toHex(bytes), name);
      }
    });
  }
});
