import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { Sleeper } from './sleeper.js';
import { VirtualRuntime } from './virtual-runtime.test-support.js';

describe('Sleeper', () => {
  it('wakes by due time, all on one timer', async () => {
    const runtime = new VirtualRuntime();
    const sleeper = new Sleeper(runtime);
    const woken: number[] = [];
    for (const delayMs of [30, 10, 20, 0]) sleeper.sleep(delayMs, () => woken.push(delayMs));
    assert.equal(runtime.timerCount, 1);
    assert.deepEqual(woken, []);
    await runtime.advance(20);
    assert.deepEqual(woken, [0, 10, 20]);
    await runtime.advance(10);
    assert.deepEqual(woken, [0, 10, 20, 30]);
    assert.equal(runtime.timerCount, 0);
  });

  it('wakes nobody after it is closed', async () => {
    const runtime = new VirtualRuntime();
    const sleeper = new Sleeper(runtime);
    let woken = 0;
    for (const delayMs of [0, 10]) sleeper.sleep(delayMs, () => woken++);
    sleeper.close();
    await runtime.advance(100);
    assert.equal(woken, 0);
    assert.equal(runtime.timerCount, 0);
  });
});
