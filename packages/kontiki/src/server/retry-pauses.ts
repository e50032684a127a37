import { InvalidArgumentError } from '../common/errors.js';
import { TimeDuration } from '../config/time-duration.js';

type Pauses = readonly (readonly [number, number])[];

const LINEAR = 'MultipleLinearRandomRetry';
const EXPONENTIAL = 'ExponentialBackoffRetry';

/**
 * The pauses of an appender after errors, as (milliseconds, count) pairs, from
 * `raft.server.log.appender.retry.policy` (spec: consensus 3.3): a list of pairs, perhaps with its
 * class name, or `ExponentialBackoffRetry,<base>,<max>,<attempts>`. Throws InvalidArgumentError on
 * anything else.
 */
export function parseRetryPauses(text: string): Pauses {
  const words = text.split(',').map((word) => word.trim());
  if (words[0] === EXPONENTIAL) return exponential(words.slice(1), text);
  return linear(words[0] === LINEAR ? words.slice(1) : words, text);
}

function linear(words: readonly string[], text: string): Pauses {
  if (words.length === 0 || words.length % 2 !== 0) throw bad(text);
  const pauses: [number, number][] = [];
  for (let i = 0; i < words.length; i += 2) {
    pauses.push([milliseconds(words[i], text), count(words[i + 1], text)]);
  }
  return pauses;
}

function exponential(words: readonly string[], text: string): Pauses {
  if (words.length < 2 || words.length > 3) throw bad(text);
  const base = milliseconds(words[0], text);
  const max = milliseconds(words[1], text);
  const pauses: [number, number][] = [];
  for (let pause = base; pause < max && pauses.length < 32; pause *= 2) pauses.push([pause, 1]);
  pauses.push([max, words[2] === undefined ? 1 : count(words[2], text)]);
  return pauses;
}

function milliseconds(word: string | undefined, text: string): number {
  if (word === undefined) throw bad(text);
  return TimeDuration.parse(word, 'ms').toMs();
}

function count(word: string | undefined, text: string): number {
  if (word === undefined || !/^\d+$/.test(word)) throw bad(text);
  return Number(word);
}

function bad(text: string): InvalidArgumentError {
  return new InvalidArgumentError(`"${text}" is not a retry policy of an appender`);
}
