import { randomBytes } from 'node:crypto';
import type { Runtime } from '../../common/runtime.js';

/** The runtime of a transport that was given none: Node's own clock, timers and random numbers. */
export const DEFAULT_RUNTIME: Runtime = {
  clock: { nowMs: () => performance.now(), wallTimeMs: () => Date.now() },
  timers: {
    schedule: (delayMs, callback, background) => {
      const handle = setTimeout(callback, delayMs);
      if (background === true) handle.unref();
      return { cancel: () => clearTimeout(handle) };
    },
    defer: (callback) => void setImmediate(callback),
    enqueue: (callback) => queueMicrotask(callback),
  },
  random: {
    nextUint32: () => randomBytes(4).readUInt32LE(),
    bytes: (count) => new Uint8Array(randomBytes(count)),
  },
};
