import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidArgumentError } from '../common/errors.js';
import { TimeDuration } from './time-duration.js';
import { TIME_UNITS, UNIT_SUFFIXES } from './time-unit.js';

const MAX_LONG = 2n ** 63n - 1n;

function printed(text: string): string {
  return TimeDuration.parse(text, 'ms').toString();
}

test('accepts every suffix of every unit, in any case, with blanks and underscores', () => {
  for (const unit of TIME_UNITS) {
    for (const suffix of UNIT_SUFFIXES[unit]) {
      assert.equal(printed(`1_000${suffix}`), `1000${unit}`);
      assert.equal(printed(` 7  ${suffix.toUpperCase()} `), `7${unit}`);
    }
  }
});

test('counts a plain number in the default unit', () => {
  assert.equal(TimeDuration.parse('5', 's').toString(), '5s');
  assert.equal(TimeDuration.parse('-5', 'ms').toString(), '-5ms');
});

for (const text of ['', 's', '1.5s', '5 parsecs', '1 2s', '9223372036854775808ns', 'ms5']) {
  test(`refuses "${text}" as a duration`, () => {
    assert.throws(() => TimeDuration.parse(text, 'ms'), InvalidArgumentError);
  });
}

test('gives milliseconds with fractions', () => {
  assert.equal(TimeDuration.parse('150us', 'ms').toMs(), 0.15);
  assert.equal(TimeDuration.parse('1500000ns', 'ms').toMs(), 1.5);
  assert.equal(TimeDuration.parse('2min', 'ms').toMs(), 120_000);
});

test('writes milliseconds in the coarsest unit from ms down that holds them', () => {
  assert.equal(TimeDuration.ofMs(300).toString(), '300ms');
  assert.equal(TimeDuration.ofMs(0.15).toString(), '150μs');
  assert.equal(TimeDuration.ofMs(0.0015).toString(), '1500ns');
});

test('truncates toward zero in a coarser unit', () => {
  assert.equal(TimeDuration.of(1999, 'ms').to('s').toString(), '1s');
  assert.equal(TimeDuration.of(-1999, 'ms').to('s').toString(), '-1s');
});

test('saturates in a finer unit', () => {
  assert.equal(TimeDuration.of(MAX_LONG, 'day').to('ns').count, MAX_LONG);
  assert.equal(TimeDuration.of(-MAX_LONG, 'day').to('ns').count, -(2n ** 63n));
});

test('compares by length, not by unit', () => {
  assert.equal(TimeDuration.of(1000, 'ms').compare(TimeDuration.of(1, 's')), 0);
  assert.ok(TimeDuration.of(999, 'ms').compare(TimeDuration.of(1, 's')) < 0);
  assert.ok(TimeDuration.of(1, 'min').compare(TimeDuration.of(59, 's')) > 0);
});

test('adds and subtracts in the finer unit', () => {
  const second = TimeDuration.of(1, 's');
  assert.equal(second.add(TimeDuration.of(500, 'ms')).toString(), '1500ms');
  assert.equal(TimeDuration.of(500, 'ms').subtract(second).toString(), '-500ms');
});

test('rounds a product, and moves to a finer unit when that would be off by 0.1 %', () => {
  assert.equal(TimeDuration.of(100, 'ms').multiply(3).toString(), '300ms');
  assert.equal(TimeDuration.of(1, 's').multiply(0.5).toString(), '500ms');
  assert.equal(TimeDuration.of(10_000, 'ms').multiply(1.00005).toString(), '10001ms');
  assert.equal(TimeDuration.of(1, 'ns').multiply(0.4).toString(), '0ns');
});

test('moves a product that overflows to a coarser unit', () => {
  assert.equal(TimeDuration.of(MAX_LONG, 'ns').multiply(4).unit, 'μs');
});

test('refuses a factor that is no number', () => {
  assert.throws(() => TimeDuration.of(1, 's').multiply(Number.NaN), InvalidArgumentError);
});

test('rounds up to multiples, negative numbers toward zero', () => {
  const step = TimeDuration.of(10, 'ns');
  assert.deepEqual(
    [0n, 1n, 10n, 11n, -1n, -10n, -11n].map((nanos) => step.roundUpNanos(nanos)),
    [0n, 10n, 10n, 20n, 0n, -10n, -10n],
  );
});

test('formats in another unit, with decimals only where needed', () => {
  assert.equal(TimeDuration.of(1999, 'ms').format('s', 3), '1.999s');
  assert.equal(TimeDuration.of(2000, 'ms').format('s', 3), '2s');
  assert.equal(TimeDuration.of(2, 's').format('ms', 3), '2000ms');
});

test('refuses a count that is no 64-bit integer', () => {
  assert.throws(() => TimeDuration.of(1.5, 's'), InvalidArgumentError);
  assert.throws(() => TimeDuration.of(2n ** 63n, 's'), InvalidArgumentError);
});
