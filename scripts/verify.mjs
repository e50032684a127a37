/**
 * Everything that can be said about the sources without running them. Never writes.
 *
 *   node scripts/verify.mjs [PART ...]
 *
 * The parts run two at a time; each prints one line with its time, and what it found when it
 * failed.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { REPOSITORY } from './lib/files.mjs';

const PARTS_AT_ONCE = 2;
const modules = join(REPOSITORY, 'node_modules');
const own = (script, ...args) => [join(REPOSITORY, 'scripts', script), ...args];

/** Longest first. */
const PARTS = {
  // The native compiler is the quick check; the build that ships is made by `tsc`.
  types: [join(modules, '@typescript/native-preview/bin/tsgo'), '-p', 'tsconfig.verify.json'],
  imports: own('imports.mjs'),
  format: [
    join(modules, '@biomejs/biome/bin/biome'),
    'ci',
    '--colors=off',
    '--reporter=concise',
    '--max-diagnostics=200',
    '.',
  ],
  tidy: own('tidy.mjs'),
  purity: own('purity.mjs'),
  generated: own('generate.mjs', '--check'),
};

/** Runs one part in a process of its own and gathers what it prints. */
function run(name) {
  const started = performance.now();
  return new Promise((resolve) => {
    const child = spawn(process.execPath, PARTS[name], {
      cwd: REPOSITORY,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    const gather = (chunk) => {
      output += chunk.toString();
    };
    child.stdout.on('data', gather);
    child.stderr.on('data', gather);
    child.on('error', (error) => resolve({ name, passed: false, output: error.message }));
    child.on('close', (code) => {
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      resolve({ name, passed: code === 0, output: output.trim(), seconds });
    });
  });
}

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(
    `verify: no part ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`,
  );
  process.exit(2);
}
const waiting = Object.keys(PARTS).filter((name) => wanted.length === 0 || wanted.includes(name));
const failed = [];
const work = async () => {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const { passed, output, seconds } = await run(name);
    console.log(`${passed ? 'ok  ' : 'FAIL'} ${name.padEnd(10)} ${seconds ?? '?'} s`);
    if (!passed) {
      failed.push(name);
      console.log(output.replace(/^/gm, '     '));
    }
  }
};
await Promise.all(Array.from({ length: PARTS_AT_ONCE }, work));
if (failed.length > 0) {
  console.error(
    `verify: failed: ${failed.join(', ')} (npm run fix mends format and generated files)`,
  );
  process.exitCode = 1;
} else {
  console.log('verify: all well');
}
