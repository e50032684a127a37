import type { Runtime } from '../common/runtime.js';

/** Numbers the calls of all clients that share a runtime, from 1 (spec: client 1). */
export class CallIds {
  #next = 1;

  next(): number {
    return this.#next++;
  }
}

const counters = new WeakMap<Runtime, CallIds>();

/**
 * The counter of `runtime`: one for the whole process in production, one for each simulated one.
 */
export function callIdsOf(runtime: Runtime): CallIds {
  let counter = counters.get(runtime);
  if (counter === undefined) {
    counter = new CallIds();
    counters.set(runtime, counter);
  }
  return counter;
}
