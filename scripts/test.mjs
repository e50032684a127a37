/**
 * Runs the compiled tests with `node --test`.
 *
 *   node scripts/test.mjs [FILE_FILTER ...] [--name PATTERN] [--slow] [--list]
 *
 * A file filter is a part of the path, such as `core/` or `storage/segment`. Tests named
 * `*.slow.test.js` are slow by design and run only with --slow. Finding no test is a failure.
 */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { parseArgs } from 'node:util';
import { REPOSITORY } from './lib/files.mjs';

/** What takes longer hangs. Node 20 counts this for a whole file, later versions for each test. */
const TEST_TIMEOUT_MS = 300_000;
const FILES_AT_ONCE = 2;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    name: { type: 'string', multiple: true, default: [] },
    slow: { type: 'boolean', default: false },
    list: { type: 'boolean', default: false },
  },
});

/** Test files below a folder. */
function testsBelow(folder, suffix) {
  const start = join(REPOSITORY, folder);
  return existsSync(start)
    ? readdirSync(start, { recursive: true })
        .filter((name) => name.endsWith(suffix))
        .map((name) => join(start, name))
    : [];
}

const files = [
  ...testsBelow('packages/kontiki/dist', '.test.js'),
  ...testsBelow('bench/dist', '.test.js'),
  ...testsBelow('scripts', '.test.mjs'),
]
  .map((path) => relative(REPOSITORY, path))
  .filter((path) => values.slow || !path.endsWith('.slow.test.js'))
  .filter((path) => {
    const plain = path.split('\\').join('/');
    return positionals.length === 0 || positionals.some((filter) => plain.includes(filter));
  })
  .sort();

if (files.length === 0) {
  console.error('test: no test file found (was it built? does the filter match?)');
  process.exit(1);
}
if (values.list) {
  console.log(files.join('\n'));
  process.exit(0);
}

console.log(`test: ${files.length} files on Node ${process.version}`);
const child = spawn(
  process.execPath,
  [
    '--enable-source-maps',
    '--test',
    `--test-concurrency=${FILES_AT_ONCE}`,
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    '--test-reporter=spec',
    ...values.name.map((pattern) => `--test-name-pattern=${pattern}`),
    ...files,
  ],
  { cwd: REPOSITORY, stdio: ['ignore', 'pipe', 'inherit'] },
);

/**
 * Counts that the reporter prints at the end: a run in which no test ran at all has proved nothing.
 */
let tail = '';
child.stdout.on('data', (chunk) => {
  process.stdout.write(chunk);
  tail = (tail + chunk.toString()).slice(-1_000_000);
});
child.on('error', (error) => {
  console.error(`test: ${error.message}`);
  process.exitCode = 1;
});
child.on('close', (code) => {
  const counts = [...tail.matchAll(/^ℹ pass (\d+)$/gm)].at(-1);
  if (code !== 0) {
    process.exitCode = code ?? 1;
  } else if (counts === undefined || Number(counts[1]) === 0) {
    console.error('test: no test ran');
    process.exitCode = 1;
  }
});
