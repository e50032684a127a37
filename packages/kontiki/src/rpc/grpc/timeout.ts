import { InvalidArgumentError } from '../../common/errors.js';

/** Nanoseconds of each unit letter of `grpc-timeout`. */
const UNIT_NANOS: Readonly<Record<string, number>> = {
  H: 3_600_000_000_000,
  M: 60_000_000_000,
  S: 1_000_000_000,
  m: 1_000_000,
  u: 1_000,
  n: 1,
};

/** Longer timers than this overflow in Node; no call waits 24 days. */
const MAX_TIMER_MS = 2_147_483_647;

/** The delay of a deadline's timer, within what a timer can wait. */
export function timerDelayMs(timeoutMs: number): number {
  return Math.min(MAX_TIMER_MS, Math.max(0, timeoutMs));
}

/** The largest number that eight digits hold. */
const MAX_DIGITS_VALUE = 99_999_999;

/**
 * The text of a `grpc-timeout` header: microseconds while they fit in eight digits, as Java sends
 * them, then coarser units, rounded up (spec: wire-grpc 3.1).
 */
export function formatTimeout(timeoutMs: number): string {
  const micros = Math.max(1, Math.round(timeoutMs * 1_000));
  if (micros <= MAX_DIGITS_VALUE) return `${micros}u`;
  if (timeoutMs <= MAX_DIGITS_VALUE) return `${Math.ceil(timeoutMs)}m`;
  const seconds = Math.ceil(timeoutMs / 1_000);
  if (seconds <= MAX_DIGITS_VALUE) return `${seconds}S`;
  const minutes = Math.ceil(seconds / 60);
  return minutes <= MAX_DIGITS_VALUE ? `${minutes}M` : `${MAX_DIGITS_VALUE}H`;
}

/**
 * Milliseconds in a `grpc-timeout` header. Throws InvalidArgumentError when the text is malformed.
 */
export function parseTimeout(text: string): number {
  const match = /^(\d{1,8})([HMSmun])$/.exec(text);
  const nanos = match?.[2] === undefined ? undefined : UNIT_NANOS[match[2]];
  if (match?.[1] === undefined || nanos === undefined) {
    throw new InvalidArgumentError(`malformed grpc-timeout: ${JSON.stringify(text.slice(0, 40))}`);
  }
  return (Number(match[1]) * nanos) / 1_000_000;
}
