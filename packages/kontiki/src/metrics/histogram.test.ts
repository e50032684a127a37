import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { BUCKET_COUNT, bucketIndex, bucketLowerBound, bucketMiddle } from './buckets.js';
import { Histogram } from './histogram.js';
import { Timer } from './timer.js';

test('puts each lower bound in its own bucket, and one less in the bucket before', () => {
  for (let index = 1; index < BUCKET_COUNT; index++) {
    assert.equal(bucketIndex(bucketLowerBound(index)), index);
    assert.equal(bucketIndex(bucketLowerBound(index) - 1), index - 1);
  }
});

test('stands for a number within 1/32', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffff_ffff }), (value) => {
      assert.ok(Math.abs(bucketMiddle(bucketIndex(value)) - value) <= value / 32);
    }),
  );
});

test('counts numbers beyond the last bucket in it', () => {
  assert.equal(bucketIndex(2 ** 40), BUCKET_COUNT - 1);
  assert.equal(bucketIndex(Number.POSITIVE_INFINITY), BUCKET_COUNT - 1);
});

test('is empty at first', () => {
  const { count, sum, max, mean, percentile, buckets } = new Histogram().snapshot();
  assert.deepEqual([count, sum, max, mean, percentile(0.99), buckets()], [0, 0, 0, 0, 0, []]);
});

test('gives count, sum, mean, maximum and percentiles', () => {
  const histogram = new Histogram();
  for (let i = 1; i <= 1000; i++) histogram.record(i);
  const { count, sum, mean, max, percentile } = histogram.snapshot();
  assert.deepEqual([count, sum, mean, max], [1000, 500_500, 500.5, 1000]);
  assert.equal(percentile(0), 1);
  for (const quantile of [0.5, 0.95, 0.99, 1]) {
    const exact = quantile * 1000;
    assert.ok(Math.abs(percentile(quantile) - exact) <= exact / 32, `percentile ${quantile}`);
  }
});

test('tells times apart down to a microsecond', () => {
  const timer = new Timer();
  timer.record(0.003);
  timer.record(0.005);
  assert.equal(timer.snapshot().percentile(0.5).toFixed(6), '0.003000');
  assert.equal(timer.snapshot().percentile(1).toFixed(6), '0.005000');
});

test('counts negative values and NaN as 0', () => {
  const histogram = new Histogram();
  histogram.record(-5);
  histogram.record(Number.NaN);
  assert.deepEqual([histogram.count, histogram.sum], [2, 0]);
});

test('gives the maximum where a value is beyond the buckets', () => {
  const histogram = new Histogram();
  histogram.record(2 ** 40);
  const { percentile, buckets } = histogram.snapshot();
  assert.equal(percentile(0.5), 2 ** 40);
  assert.deepEqual(buckets(), [{ upperBound: Number.POSITIVE_INFINITY, count: 1 }]);
});

test('lists filled buckets with their upper bounds', () => {
  const histogram = new Histogram();
  for (const value of [3, 3, 100]) histogram.record(value);
  assert.deepEqual(histogram.snapshot().buckets(), [
    { upperBound: 4, count: 2 },
    { upperBound: 104, count: 1 },
  ]);
});

test('does not change a snapshot by later values', () => {
  const histogram = new Histogram();
  histogram.record(1);
  const snapshot = histogram.snapshot();
  histogram.record(100);
  assert.deepEqual([snapshot.count, snapshot.percentile(1)], [1, 1]);
});
