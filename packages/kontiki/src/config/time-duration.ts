import { InvalidArgumentError } from '../common/errors.js';
import {
  coarserUnit,
  finerUnit,
  TIME_UNITS,
  type TimeUnit,
  UNIT_NANOS,
  UNIT_SUFFIXES,
} from './time-unit.js';

const MAX_LONG = 2n ** 63n - 1n;
const MIN_LONG = -(2n ** 63n);
/** Relative rounding error from which a product moves to a finer unit. */
const MAX_ROUNDING_ERROR = 0.001;

function saturate(value: bigint): bigint {
  if (value > MAX_LONG) return MAX_LONG;
  return value < MIN_LONG ? MIN_LONG : value;
}

function parseCount(text: string): bigint | undefined {
  const digits = text.trim();
  if (!/^[+-]?\d+$/.test(digits)) return undefined;
  const count = BigInt(digits.startsWith('+') ? digits.slice(1) : digits);
  return count > MAX_LONG || count < MIN_LONG ? undefined : count;
}

/** A 64-bit count of a unit of time, immutable; compared by length (spec: config 4.1). */
export class TimeDuration {
  readonly count: bigint;
  readonly unit: TimeUnit;

  private constructor(count: bigint, unit: TimeUnit) {
    this.count = count;
    this.unit = unit;
  }

  /** Throws InvalidArgumentError when the count is no 64-bit integer. */
  static of(count: number | bigint, unit: TimeUnit): TimeDuration {
    if (typeof count === 'number' && !Number.isInteger(count)) {
      throw new InvalidArgumentError(`a duration needs a whole count, but got ${count}${unit}`);
    }
    const whole = BigInt(count);
    if (whole !== saturate(whole)) {
      throw new InvalidArgumentError(`${count}${unit} does not fit in 64 bits`);
    }
    return new TimeDuration(whole, unit);
  }

  /** From milliseconds with fractions, in the coarsest unit from ms down that holds them. */
  static ofMs(durationMs: number): TimeDuration {
    if (Number.isInteger(durationMs)) return TimeDuration.of(durationMs, 'ms');
    const nanos = TimeDuration.of(Math.round(durationMs * 1e6), 'ns');
    return nanos.count % 1000n === 0n ? nanos.to('μs') : nanos;
  }

  /**
   * Reads `<count><unit>`; a text without a unit counts in `defaultUnit`. Throws
   * InvalidArgumentError when it is neither.
   */
  static parse(text: string, defaultUnit: TimeUnit): TimeDuration {
    const lower = text.trim().replaceAll('_', '').toLowerCase();
    for (const unit of TIME_UNITS) {
      for (const suffix of UNIT_SUFFIXES[unit]) {
        if (!lower.endsWith(suffix)) continue;
        const count = parseCount(lower.slice(0, -suffix.length));
        if (count !== undefined) return new TimeDuration(count, unit);
      }
    }
    const count = parseCount(lower);
    if (count === undefined) throw new InvalidArgumentError(`"${text}" is not a duration`);
    return new TimeDuration(count, defaultUnit);
  }

  /** Length in nanoseconds, exact. */
  get nanos(): bigint {
    return this.count * UNIT_NANOS[this.unit];
  }

  /** Milliseconds, with fractions. */
  toMs(): number {
    const nanos = this.nanos;
    return Number(nanos / 1_000_000n) + Number(nanos % 1_000_000n) / 1e6;
  }

  /** In another unit: coarser truncates toward zero, finer saturates at the 64-bit limits. */
  to(unit: TimeUnit): TimeDuration {
    return new TimeDuration(saturate(this.nanos / UNIT_NANOS[unit]), unit);
  }

  isNegative(): boolean {
    return this.count < 0n;
  }

  /** Negative, zero or positive, as this is shorter than, as long as or longer than `that`. */
  compare(that: TimeDuration): number {
    const difference = this.nanos - that.nanos;
    if (difference === 0n) return 0;
    return difference < 0n ? -1 : 1;
  }

  /** Sum in the finer unit of both. */
  add(that: TimeDuration): TimeDuration {
    const unit = UNIT_NANOS[this.unit] < UNIT_NANOS[that.unit] ? this.unit : that.unit;
    const sum = saturate(this.to(unit).count + that.to(unit).count);
    return new TimeDuration(sum, unit);
  }

  /** Difference in the finer unit of both. */
  subtract(that: TimeDuration): TimeDuration {
    return this.add(new TimeDuration(saturate(-that.count), that.unit));
  }

  /**
   * Rounded product. It moves to a finer unit when rounding would be off by more than 0.1 %, to a
   * coarser one when the count would overflow.
   */
  multiply(factor: number): TimeDuration {
    if (!Number.isFinite(factor)) {
      throw new InvalidArgumentError(`cannot multiply a duration by ${factor}`);
    }
    const product = Number(this.count) * factor;
    if (product === 0) return new TimeDuration(0n, this.unit);
    if (Math.abs(product) >= Number(MAX_LONG)) {
      const coarser = coarserUnit(this.unit);
      if (coarser !== undefined) return this.to(coarser).multiply(factor);
      return new TimeDuration(product > 0 ? MAX_LONG : MIN_LONG, this.unit);
    }
    const rounded = Math.round(product);
    const finer = finerUnit(this.unit);
    if (
      finer !== undefined &&
      Math.abs(product - rounded) > Math.abs(product) * MAX_ROUNDING_ERROR
    ) {
      return this.to(finer).multiply(factor);
    }
    return new TimeDuration(BigInt(rounded), this.unit);
  }

  /** Smallest multiple of this duration that is at least `nanos`; negative ones go toward zero. */
  roundUpNanos(nanos: bigint): bigint {
    const step = this.nanos;
    if (step <= 0n) throw new InvalidArgumentError(`cannot round up to multiples of ${this}`);
    const quotient = nanos / step;
    return (nanos > 0n && nanos % step !== 0n ? quotient + 1n : quotient) * step;
  }

  /** `<count><unit>`, as it is written to a configuration. */
  toString(): string {
    return `${this.count}${this.unit}`;
  }

  /** In `unit`: a whole count where that is exact, else with `decimals` places, e.g. `1.999s`. */
  format(unit: TimeUnit, decimals: number): string {
    const length = UNIT_NANOS[unit];
    if (UNIT_NANOS[this.unit] >= length || this.nanos % length === 0n) return `${this.to(unit)}`;
    return `${(Number(this.nanos) / Number(length)).toFixed(decimals)}${unit}`;
  }
}
