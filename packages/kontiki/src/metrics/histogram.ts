import { BUCKET_COUNT, bucketIndex, bucketLowerBound, bucketMiddle } from './buckets.js';

/** A state of a histogram that does not change any more. Values are in the histogram's unit. */
export interface HistogramSnapshot {
  readonly count: number;
  readonly sum: number;
  /** 0 when nothing was recorded. */
  readonly max: number;
  readonly mean: number;
  /** The value below which the fraction `quantile` (0 to 1) of all lies, within 1/32. */
  percentile(quantile: number): number;
  /** Buckets that hold something, ascending: exclusive upper bound and count in this bucket. */
  buckets(): { readonly upperBound: number; readonly count: number }[];
}

/**
 * Counts values in fixed buckets whose width grows with the value, so that recording is a few
 * instructions and no memory grows. `resolution` is the width of the finest bucket; values beyond
 * 2^32 times that count in the last one (their sum and maximum stay exact).
 */
export class Histogram {
  private readonly resolution: number;
  private readonly scale: number;
  /** Absent until the first value: many histograms of a server stay empty. */
  private counts: Float64Array | undefined;
  private total = 0;
  private valueSum = 0;
  private largest = 0;

  constructor(resolution = 1) {
    this.resolution = resolution;
    this.scale = 1 / resolution;
  }

  get count(): number {
    return this.total;
  }

  get sum(): number {
    return this.valueSum;
  }

  /** Adds a value; negative ones and NaN count as 0. */
  record(value: number): void {
    const positive = Number.isNaN(value) ? 0 : Math.max(value, 0);
    this.counts ??= new Float64Array(BUCKET_COUNT);
    const index = bucketIndex(positive * this.scale);
    this.counts[index] = (this.counts[index] ?? 0) + 1;
    this.total++;
    this.valueSum += positive;
    if (positive > this.largest) this.largest = positive;
  }

  snapshot(): HistogramSnapshot {
    const counts = this.counts?.slice() ?? new Float64Array(0);
    const { total, valueSum, largest, resolution } = this;
    return {
      count: total,
      sum: valueSum,
      max: largest,
      mean: total === 0 ? 0 : valueSum / total,
      percentile: (quantile) => Math.min(findValue(counts, total, quantile) * resolution, largest),
      buckets: () => filledBuckets(counts, resolution),
    };
  }
}

function findValue(counts: Float64Array, total: number, quantile: number): number {
  if (total === 0) return 0;
  const rank = Math.max(1, Math.ceil(Math.min(1, Math.max(0, quantile)) * total));
  let seen = 0;
  for (let i = 0; i < counts.length; i++) {
    seen += counts[i] ?? 0;
    if (seen >= rank) return i === BUCKET_COUNT - 1 ? Number.MAX_VALUE : bucketMiddle(i);
  }
  return Number.MAX_VALUE;
}

function filledBuckets(
  counts: Float64Array,
  resolution: number,
): { upperBound: number; count: number }[] {
  const filled: { upperBound: number; count: number }[] = [];
  counts.forEach((count, i) => {
    if (count === 0) return;
    const isLast = i === BUCKET_COUNT - 1;
    const upperBound = isLast ? Number.POSITIVE_INFINITY : bucketLowerBound(i + 1) * resolution;
    filled.push({ upperBound, count });
  });
  return filled;
}
