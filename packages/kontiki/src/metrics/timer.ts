import { Histogram } from './histogram.js';

const MICROSECOND_IN_MS = 0.001;

/** Durations in milliseconds, told apart down to a microsecond (spec: metrics 1). */
export class Timer extends Histogram {
  constructor() {
    super(MICROSECOND_IN_MS);
  }
}
