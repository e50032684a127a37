import type { Random } from '../../common/runtime.js';
import type { EngineConfig } from '../types.js';

/**
 * The defaults of the specification (spec: consensus 9), with this project's own where they differ.
 */
export const TEST_CONFIG: EngineConfig = {
  rpcTimeoutMinMs: 150,
  rpcTimeoutMaxMs: 300,
  firstElectionTimeoutMinMs: 150,
  firstElectionTimeoutMaxMs: 300,
  rpcRequestTimeoutMs: 3000,
  rpcSlownessTimeoutMs: 60_000,
  stepDownWaitTimeMs: 10_000,
  preVote: true,
  noLeaderTimeoutMs: 60_000,
  sleepDeviationThresholdMs: 300,
  logMetadataEnabled: true,
  composeEnabled: false,
  outstandingAppendsMax: 8,
  appenderWaitTimeMinMs: 0,
  appenderRetryPauses: [
    [1, 10],
    [1000, 20],
    [5000, 1000],
  ],
  followerGapRatioMax: -1,
  writeElementLimit: 4096,
  readTimeoutMs: 10_000,
  stagingTimeoutMs: 900,
  stagingCatchupGap: 1000,
  memberMajorityAdd: false,
};

/** Always draws the same point of a range, so that a script can say when a timer fires. */
export class FixedRandom implements Random {
  /** 0 draws the least value of a range, just below 1 the greatest. */
  point = 0;

  nextUint32(): number {
    return Math.floor(this.point * 0xffff_ffff);
  }

  bytes(count: number): Uint8Array {
    return new Uint8Array(count);
  }
}

/** A small seeded generator (xorshift128-like, mulberry32). */
export class SeededRandom implements Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  nextUint32(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return (t ^ (t >>> 14)) >>> 0;
  }

  bytes(count: number): Uint8Array {
    return Uint8Array.from({ length: count }, () => this.nextUint32() & 0xff);
  }

  /** Integer in [0, bound). */
  below(bound: number): number {
    return Math.floor((this.nextUint32() / 0x1_0000_0000) * bound);
  }

  chance(probability: number): boolean {
    return this.nextUint32() / 0x1_0000_0000 < probability;
  }

  pick<T>(items: readonly T[]): T | undefined {
    return items[this.below(items.length)];
  }
}
