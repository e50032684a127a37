import { getHeapStatistics, setFlagsFromString } from 'node:v8';

/** Growth that is allowed between two full collections, bytes. */
const HEADROOM_BYTES = 128 * 1024 * 1024;
const CHECK_MS = 1_000;
/** Coarse, since each change of a flag invalidates compiled code that Node keeps. */
const PERCENT_STEP = 100;

/**
 * By how many percent a heap of `usedBytes` may grow before the next full collection; 0 leaves it
 * to V8.
 */
export function growthPercent(usedBytes: number): number {
  const percent = (HEADROOM_BYTES * 100) / Math.max(1, usedBytes);
  return Math.floor(percent / PERCENT_STEP) * PERCENT_STEP;
}

/**
 * Lets the heap of this process grow by about 128 MB between two full collections; larger heaps are
 * left to V8. V8 derives the next collection from the size of the heap, which is small here, but
 * counts the bytes of buffers too: with 1 MiB messages it would mark the whole heap every eight
 * messages. Changes flags of the process, so it is for programs, not for libraries. Returns how to
 * stop it.
 */
export function keepHeapHeadroom(): () => void {
  let current = 0;
  const adapt = () => {
    const percent = growthPercent(getHeapStatistics().used_heap_size);
    if (percent === current) return;
    current = percent;
    setFlagsFromString(`--heap-growing-percent=${percent}`);
  };
  adapt();
  const timer = setInterval(adapt, CHECK_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    setFlagsFromString('--heap-growing-percent=0');
  };
}
