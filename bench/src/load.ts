import { Histogram, type HistogramSnapshot } from 'kontiki/testing';

/** Latencies are recorded to a hundredth of a millisecond. */
const LATENCY_RESOLUTION_MS = 0.01;

export interface LoadOptions {
  /** Requests under way at once. */
  readonly inFlight: number;
  readonly warmupSeconds: number;
  readonly seconds: number;
  /** One request; the number counts from 0. A rejection ends the load with an error. */
  readonly send: (number: number) => Promise<void>;
  /** The time that is measured begins or ends. */
  readonly onPhase: (phase: 'measure' | 'drain') => void;
  readonly onProgress: (progress: LoadProgress) => void;
}

export interface LoadProgress {
  readonly elapsedSeconds: number;
  /** Since the last call. */
  readonly perSecond: number;
  readonly isWarmup: boolean;
}

export interface LoadResult {
  /** Requests answered in the time that was measured. */
  readonly count: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly latencyMs: HistogramSnapshot;
  /** All requests, with those before and after. */
  readonly total: number;
}

const PROGRESS_MS = 500;

/** A closed loop: each answer is followed by the next request at once. */
export async function closedLoop(options: LoadOptions): Promise<LoadResult> {
  const latency = new Histogram(LATENCY_RESOLUTION_MS);
  const startMs = performance.now();
  const measureMs = startMs + options.warmupSeconds * 1_000;
  const endMs = measureMs + options.seconds * 1_000;
  let next = 0;
  let answered = 0;
  let failed = false;

  const lane = async () => {
    for (;;) {
      const sentMs = performance.now();
      if (sentMs >= endMs || failed) return;
      await options.send(next++);
      answered++;
      const doneMs = performance.now();
      if (doneMs >= measureMs && doneMs < endMs) latency.record(doneMs - sentMs);
    }
  };
  let lastMs = startMs;
  let lastAnswered = 0;
  const progress = setInterval(() => {
    const nowMs = performance.now();
    options.onProgress({
      elapsedSeconds: (nowMs - startMs) / 1_000,
      perSecond: ((answered - lastAnswered) * 1_000) / (nowMs - lastMs),
      isWarmup: nowMs < measureMs,
    });
    lastMs = nowMs;
    lastAnswered = answered;
  }, PROGRESS_MS);
  const phases = [
    setTimeout(() => options.onPhase('measure'), measureMs - performance.now()),
    setTimeout(() => options.onPhase('drain'), endMs - performance.now()),
  ];
  try {
    await Promise.all(Array.from({ length: options.inFlight }, lane));
  } finally {
    failed = true;
    clearInterval(progress);
    for (const phase of phases) clearTimeout(phase);
  }
  const latencyMs = latency.snapshot();
  const { count } = latencyMs;
  const { seconds } = options;
  return { count, seconds, perSecond: count / seconds, latencyMs, total: answered };
}
