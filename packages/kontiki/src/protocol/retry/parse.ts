import { InvalidArgumentError, messageOf } from '../../common/errors.js';
import type { Random } from '../../common/runtime.js';
import { ConfigurationError } from '../../config/errors.js';
import { INT_MAX, parseInteger } from '../../config/number-keys.js';
import { TimeDuration } from '../../config/time-duration.js';
import {
  checkBackoff,
  type ExponentialBackoff,
  ExponentialBackoffRetry,
} from './exponential-backoff.js';
import { MultipleLinearRandomRetry, type RetryPause } from './multiple-linear-random.js';
import type { RetryPolicy } from './policy.js';

const EXPONENTIAL = 'ExponentialBackoffRetry';
const LINEAR = 'MultipleLinearRandomRetry';

function parsePositiveDuration(text: string): TimeDuration {
  const duration = TimeDuration.parse(text, 'ms');
  if (duration.count > 0n) return duration;
  throw new InvalidArgumentError(`the time ${text} is non-positive`);
}

function parsePairs(elements: readonly string[]): RetryPause[] {
  const clean = elements.map((element) => element.replace(/[\s_]/g, ''));
  if (clean.length === 0 || clean.length % 2 !== 0) {
    throw new InvalidArgumentError(`${clean.length} elements are not pairs of time and count`);
  }
  const pauses: RetryPause[] = [];
  for (let i = 0; i < clean.length; i += 2) {
    const sleepTime = parsePositiveDuration(clean[i] ?? '');
    const count = parseInteger(clean[i + 1] ?? '', 1, INT_MAX);
    pauses.push({ sleepTime, count });
  }
  return pauses;
}

type Backoff = Required<ExponentialBackoff>;

function parseExponential(elements: readonly string[]): Backoff {
  const [base = '', max = '', attempts = ''] = elements;
  if (elements.length !== 3) {
    throw new InvalidArgumentError(`${EXPONENTIAL} needs base, max and attempts`);
  }
  const backoff = {
    baseSleepTime: TimeDuration.parse(base, 'ms'),
    maxSleepTime: TimeDuration.parse(max, 'ms'),
    maxAttempts: parseInteger(attempts.trim(), 0, INT_MAX),
  };
  checkBackoff(backoff);
  return backoff;
}

function isLegacyForm(first: string): boolean {
  try {
    return TimeDuration.parse(first, 'ms').count > 0n;
  } catch {
    return false;
  }
}

function splitLinear(text: string): readonly string[] {
  const elements = text.split(',');
  const first = elements[0]?.trim() ?? '';
  if (first === LINEAR) return elements.slice(1);
  if (isLegacyForm(first)) return elements;
  throw new InvalidArgumentError(`unknown retry policy class "${first}"`);
}

function withKey<T>(text: string, key: string, parse: () => T): T {
  try {
    return parse();
  } catch (cause) {
    throw new ConfigurationError(key, `Failed to parse ${key} = ${text}: ${messageOf(cause)}`, {
      cause,
    });
  }
}

/**
 * The policy that a text describes (spec: client 7.1); `key` is the configuration key it comes
 * from. Throws ConfigurationError naming key and text.
 */
export function parseRetryPolicy(text: string, key: string, random: Random): RetryPolicy {
  return withKey(text, key, () => {
    const elements = text.split(',');
    if (elements[0]?.trim() === EXPONENTIAL) {
      return new ExponentialBackoffRetry(parseExponential(elements.slice(1)), random);
    }
    return new MultipleLinearRandomRetry(parsePairs(splitLinear(text)), random);
  });
}

function exponentialPauses({ baseSleepTime, maxSleepTime, maxAttempts }: Backoff): RetryPause[] {
  const pauses: RetryPause[] = [];
  let sleepTime = baseSleepTime.multiply(2);
  let rest = maxAttempts - 1;
  while (rest > 0) {
    const isLast = sleepTime.compare(maxSleepTime) >= 0;
    const count = isLast ? rest : 1;
    pauses.push({ sleepTime: isLast ? maxSleepTime : sleepTime, count });
    rest -= count;
    sleepTime = sleepTime.multiply(2);
  }
  return pauses;
}

/**
 * Pairs of pause in milliseconds and count, for one who keeps the count of errors itself
 * (spec: consensus 3.3, H-19). Exponential back-off becomes one pair per attempt, up to the
 * longest pause. Throws ConfigurationError naming key and text.
 */
export function parseRetryPauses(text: string, key: string): [sleepMs: number, count: number][] {
  return withKey(text, key, () => {
    const elements = text.split(',');
    const isExponential = elements[0]?.trim() === EXPONENTIAL;
    const pauses = isExponential
      ? exponentialPauses(parseExponential(elements.slice(1)))
      : parsePairs(splitLinear(text));
    return pauses.map(({ sleepTime, count }) => [sleepTime.toMs(), count]);
  });
}
