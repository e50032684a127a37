/**
 * Log-linear buckets for whole numbers below 2^32: one for each number below 16, then 16 equal ones
 * for each power of two. A bucket is at most 1/16 of its values wide.
 */
const SUB_BITS = 4;
const SUB_COUNT = 1 << SUB_BITS;
const LARGEST = 0xffff_ffff;

export const BUCKET_COUNT = SUB_COUNT * (32 - SUB_BITS + 1);

/** The bucket of a number; fractions are cut, larger numbers go to the last bucket. */
export function bucketIndex(value: number): number {
  const whole = value >= LARGEST ? LARGEST : value >>> 0;
  if (whole < SUB_COUNT) return whole;
  const exponent = 31 - Math.clz32(whole);
  const sub = (whole >>> (exponent - SUB_BITS)) & (SUB_COUNT - 1);
  return SUB_COUNT * (exponent - SUB_BITS + 1) + sub;
}

/** Smallest number of a bucket. */
export function bucketLowerBound(index: number): number {
  if (index < SUB_COUNT) return index;
  const exponent = Math.floor(index / SUB_COUNT) - 1;
  return (SUB_COUNT + (index % SUB_COUNT)) * 2 ** exponent;
}

/** The number that stands for a bucket: off by at most 1/32. */
export function bucketMiddle(index: number): number {
  return (bucketLowerBound(index) + bucketLowerBound(index + 1) - 1) / 2;
}
