import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BoundedQueue } from './bounded-queue.js';

test('gives elements back in the order they came', () => {
  const queue = new BoundedQueue<number>(100);
  for (let i = 0; i < 100; i++) assert.ok(queue.offer(i));
  assert.equal(queue.peek(), 0);
  assert.equal(queue.at(99), 99);
  assert.deepEqual(
    Array.from({ length: 101 }, () => queue.poll()),
    [...Array.from({ length: 100 }, (_, i) => i), undefined],
  );
});

test('refuses an element beyond its limit and keeps what it has', () => {
  const queue = new BoundedQueue<string>(2);
  assert.deepEqual([queue.offer('a'), queue.offer('b'), queue.offer('c')], [true, true, false]);
  assert.ok(queue.isFull);
  assert.deepEqual(queue.drain(), ['a', 'b']);
  assert.ok(queue.isEmpty);
});

test('lets go of elements that were taken', () => {
  const queue = new BoundedQueue<object>(4);
  queue.offer({});
  queue.poll();
  queue.offer({});
  queue.clear();
  assert.deepEqual([queue.size, queue.peek(), queue.at(-1)], [0, undefined, undefined]);
});

test('behaves like a list under any order of offers and polls', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), fc.array(fc.boolean()), (limit, steps) => {
      const queue = new BoundedQueue<number>(limit);
      const model: number[] = [];
      steps.forEach((isOffer, i) => {
        if (!isOffer) assert.equal(queue.poll(), model.shift());
        else if (queue.offer(i)) model.push(i);
        else assert.equal(model.length, limit);
        assert.equal(queue.size, model.length);
      });
      assert.deepEqual(queue.drain(), model);
    }),
  );
});

for (const limit of [0, -1, 1.5, Number.NaN]) {
  test(`refuses ${limit} as its limit`, () => {
    assert.throws(() => new BoundedQueue(limit), { code: 'KONTIKI_INVALID_ARGUMENT' });
  });
}
