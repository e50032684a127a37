import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MetricRegistries } from './metric-registries.js';
import { MetricRegistry, type RegistryInfo } from './metric-registry.js';

const INFO: RegistryInfo = {
  prefix: 's0@group-ABB3109A44C1',
  application: 'ratis',
  component: 'log_worker',
  description: 'log',
};

test('names a metric in full and joins labels (spec: metrics 1)', () => {
  const registry = new MetricRegistry(INFO, { peer: 's0' });
  registry.counter('flushCount', { kind: 'data' }).increment(2);
  assert.deepEqual(registry.snapshot(), [
    {
      name: 'flushCount',
      fullName: 'ratis.log_worker.s0@group-ABB3109A44C1.flushCount',
      labels: { peer: 's0', kind: 'data' },
      kind: 'counter',
      value: 2,
    },
  ]);
});

test('gives the same metric under the same name', () => {
  const registry = new MetricRegistry(INFO);
  assert.equal(registry.timer('a'), registry.timer('a'));
  const counter = registry.counter('b');
  counter.increment();
  registry.counter('b').decrement(3);
  assert.equal(counter.value, -2);
});

test('refuses one name for two kinds', () => {
  const registry = new MetricRegistry(INFO);
  registry.timer('a');
  assert.throws(() => registry.counter('a'), { code: 'KONTIKI_INVALID_ARGUMENT' });
  assert.throws(() => registry.histogram('a'), { code: 'KONTIKI_INVALID_ARGUMENT' });
});

test('keeps the first gauge of a name and reads it on demand (spec: metrics 1)', () => {
  const registry = new MetricRegistry(INFO);
  let size: number | undefined = 1;
  registry.gauge('size', () => size);
  registry.gauge('size', () => 99);
  size = 5;
  assert.deepEqual(
    registry.snapshot().map((sample) => [sample.kind, 'value' in sample && sample.value]),
    [['gauge', 5]],
  );
  size = undefined;
  assert.deepEqual(registry.snapshot(), []);
});

test('tells timers from histograms', () => {
  const registry = new MetricRegistry(INFO);
  registry.timer('t').record(1.5);
  registry.histogram('h', 10).record(40);
  const [timer, histogram] = registry.snapshot();
  assert.ok(timer?.kind === 'timer' && timer.histogram.sum === 1.5);
  assert.ok(histogram?.kind === 'histogram' && histogram.histogram.sum === 40);
});

test('removes a metric', () => {
  const registry = new MetricRegistry(INFO);
  registry.counter('a');
  assert.deepEqual([registry.remove('a'), registry.remove('a')], [true, false]);
  assert.deepEqual(registry.snapshot(), []);
});

test('shares a registry until its last user leaves (spec: metrics 1)', () => {
  const registries = new MetricRegistries();
  const first = registries.acquire(INFO);
  assert.equal(registries.acquire({ ...INFO }), first);
  assert.notEqual(registries.acquire({ ...INFO, description: 'other' }), first);
  assert.equal(registries.list().length, 2);
  assert.equal(registries.release(INFO), false);
  assert.equal(registries.get(INFO), first);
  assert.equal(registries.release(INFO), true);
  assert.equal(registries.release(INFO), false);
  assert.equal(registries.get(INFO), undefined);
});

test('tells hooks of registries that are there, come and go', () => {
  const registries = new MetricRegistries();
  const events: string[] = [];
  const hook = {
    start: ({ info }: MetricRegistry) => events.push(`start ${info.prefix}`),
    stop: ({ info }: MetricRegistry) => events.push(`stop ${info.prefix}`),
  };
  registries.acquire({ ...INFO, prefix: 'a' });
  registries.addHook(hook);
  registries.addHook(hook);
  registries.acquire({ ...INFO, prefix: 'b' });
  registries.release({ ...INFO, prefix: 'a' });
  registries.removeHook(hook);
  registries.release({ ...INFO, prefix: 'b' });
  assert.deepEqual(events, ['start a', 'start b', 'stop a']);
});
