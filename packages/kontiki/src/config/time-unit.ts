/** Units of time, finest first, with the suffixes that a value may carry (spec: config 4.1). */
export const TIME_UNITS = ['ns', 'μs', 'ms', 's', 'min', 'hr', 'day'] as const;
export type TimeUnit = (typeof TIME_UNITS)[number];

/** Suffixes of each unit in the order in which they are tried; all lower case. */
export const UNIT_SUFFIXES: Readonly<Record<TimeUnit, readonly string[]>> = {
  ns: ['ns', 'nanos', 'nanoseconds', 'nanosecond'],
  // The micro sign and the Greek letter look alike; both are written.
  μs: ['\u03bcs', '\u00b5s', 'us', 'micros', 'microseconds', 'microsecond'],
  ms: ['ms', 'msec', 'millis', 'milliseconds', 'millisecond'],
  s: ['s', 'sec', 'seconds', 'second'],
  min: ['min', 'm', 'minutes', 'minute'],
  hr: ['hr', 'h', 'hours', 'hour'],
  day: ['day', 'd', 'days'],
};

/** Length of each unit in nanoseconds. */
export const UNIT_NANOS: Readonly<Record<TimeUnit, bigint>> = {
  ns: 1n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  min: 60_000_000_000n,
  hr: 3_600_000_000_000n,
  day: 86_400_000_000_000n,
};

/** The next finer unit, or undefined for nanoseconds. */
export function finerUnit(unit: TimeUnit): TimeUnit | undefined {
  return TIME_UNITS[TIME_UNITS.indexOf(unit) - 1];
}

/** The next coarser unit, or undefined for days. */
export function coarserUnit(unit: TimeUnit): TimeUnit | undefined {
  return TIME_UNITS[TIME_UNITS.indexOf(unit) + 1];
}
