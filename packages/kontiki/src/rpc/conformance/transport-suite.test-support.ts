import { describe } from 'node:test';
import { describeBackpressure } from './backpressure.test-support.js';
import { describeCalls } from './calls.test-support.js';
import { describeClosing } from './closing.test-support.js';
import type { TransportHarness } from './harness.test-support.js';
import { describeStreams } from './streams.test-support.js';

/** The contract of `rpc/transport.ts`, run against one transport. */
export function describeTransport(harness: TransportHarness): void {
  describe(`transport contract: ${harness.name}`, () => {
    describeCalls(harness);
    describeStreams(harness);
    describeBackpressure(harness);
    describeClosing(harness);
  });
}
