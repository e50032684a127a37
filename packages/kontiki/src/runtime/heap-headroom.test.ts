import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { growthPercent } from './heap-headroom.js';

const MEGABYTE = 1 << 20;

/** Makes 800 MB of garbage over some live data; prints how many full collections that took. */
const LOAD = `
  import { constants, PerformanceObserver } from 'node:perf_hooks';
  import { setImmediate as turn } from 'node:timers/promises';
  let count = 0;
  const note = (list) => {
    for (const { detail } of list.getEntries()) {
      if (detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR) count++;
    }
  };
  const observer = new PerformanceObserver(note);
  observer.observe({ entryTypes: ['gc'] });
  const live = Array.from({ length: 100_000 }, (_, number) => ({ number, list: [number] }));
  const kept = [];
  for (let number = 0; number < 1_000; number++) {
    kept[number % 16] = new Array(100_000).fill(number + 0.5);
    await turn();
  }
  await turn();
  note({ getEntries: () => observer.takeRecords() });
  console.log(live.length === 100_000 ? count : -1);
`;

async function fullCollections(before: string): Promise<number> {
  const script = `${before}\n${LOAD}`;
  const args = ['--input-type=module', '--eval', script];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  return Number(stdout);
}

test('a small heap may grow by the headroom, a large one is left to V8', () => {
  assert.equal(growthPercent(16 * MEGABYTE), 800);
  assert.equal(growthPercent(100 * MEGABYTE), 100);
  assert.equal(growthPercent(200 * MEGABYTE), 0);
});

test('a small heap is collected less often with headroom', async () => {
  const module = new URL('./heap-headroom.js', import.meta.url).href;
  const without = await fullCollections('');
  const withHeadroom = await fullCollections(
    `import { keepHeapHeadroom } from '${module}'; keepHeapHeadroom();`,
  );
  const found = `${withHeadroom} with headroom, ${without} without`;
  assert.ok(withHeadroom >= 0 && withHeadroom <= without, found);
  // V8 of Node 20 needs the headroom; later ones collect this load seldom by themselves.
  if (process.versions.node.startsWith('20.')) assert.ok(withHeadroom * 2 < without, found);
});
