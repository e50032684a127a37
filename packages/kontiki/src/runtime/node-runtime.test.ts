import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { test } from 'node:test';
import { createConsoleLogger } from './node-logger.js';
import { nodeRuntime } from './node-runtime.js';

const { clock, random, timers } = nodeRuntime();

test('a timer fires once, not before its time, and not when it was cancelled', async () => {
  const start = clock.nowMs();
  const cancelled = timers.schedule(1, () => assert.fail('it was cancelled'));
  cancelled.cancel();
  await new Promise<void>((resolve) => timers.schedule(10, resolve));
  // Node's timers count whole milliseconds.
  assert.ok(clock.nowMs() - start >= 9);
  cancelled.cancel();
});

test('enqueue runs before defer, and both after the current call', async () => {
  const order: string[] = [];
  await new Promise<void>((resolve) => {
    timers.defer(() => {
      order.push('deferred');
      resolve();
    });
    timers.enqueue(() => order.push('enqueued'));
    order.push('now');
  });
  assert.deepEqual(order, ['now', 'enqueued', 'deferred']);
});

test('a background timer does not keep the process alive', () => {
  const url = new URL('./node-runtime.js', import.meta.url).href;
  const source = `import { nodeRuntime } from ${JSON.stringify(url)};
    nodeRuntime().timers.schedule(600_000, () => {}, true);`;
  const { status } = spawnSync(process.execPath, ['--input-type=module', '-e', source], {
    timeout: 60_000,
  });
  assert.equal(status, 0);
});

test('random numbers fill their range, and bytes differ', () => {
  const values = Array.from({ length: 2000 }, () => random.nextUint32());
  assert.ok(values.every((value) => Number.isInteger(value) && value >= 0 && value < 2 ** 32));
  assert.ok(new Set(values).size > 1990);
  assert.ok(Math.max(...values) > 2 ** 31);
  assert.equal(random.bytes(33).length, 33);
  assert.notDeepEqual(random.bytes(16), random.bytes(16));
});

test('the logger writes one line a message from its level on', () => {
  const lines: string[] = [];
  const logger = createConsoleLogger({ level: 'warn', stream: { write: (s) => lines.push(s) } });
  assert.equal(logger.isEnabled('info'), false);
  logger.log('info', 'unseen');
  logger.log('error', 'two\nlines', {
    group: 'g 1',
    index: 7n,
    list: [1n, 2],
    error: new Error('x'),
  });
  assert.equal(lines.length, 1);
  const [line = ''] = lines;
  assert.match(line, /^\d{4}-\d\d-\d\dT[\d:.]+Z ERROR two \| lines group="g 1" index=7 /);
  assert.match(line, /list=\["1",2\] error=Error: x \| at /);
  assert.equal(line.indexOf('\n'), line.length - 1);
});
