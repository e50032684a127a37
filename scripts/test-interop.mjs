/**
 * Builds the Java peer when it has changed, then runs the compiled tests against it.
 *
 *   node scripts/test-interop.mjs [FILE_FILTER ...] [--name PATTERN]
 *
 * Without a JDK (17 or newer) or Maven there is nothing to run, which is said and is no failure; it
 * is one where CI is set.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { REPOSITORY } from './lib/files.mjs';

/** What takes longer hangs. Node 20 counts this for a whole file, later versions for each test. */
const TEST_TIMEOUT_MS = 600_000;
const MAVEN_TIMEOUT_MS = 600_000;
const JAVA_PROJECT = join(REPOSITORY, 'interop', 'java');
const OLDEST_JAVA = 17;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { name: { type: 'string', multiple: true, default: [] } },
});

/** Why the tests cannot run, or undefined. */
function whatIsMissing() {
  const java = spawnSync('java', ['-version'], { encoding: 'utf8' });
  if (java.error !== undefined || java.status !== 0) {
    return 'no JDK was found';
  }
  const version = Number(/version "(\d+)/.exec(java.stderr)?.[1]);
  if (!(version >= OLDEST_JAVA)) {
    return `Java ${OLDEST_JAVA} or newer is needed, found ${java.stderr.split('\n')[0]}`;
  }
  const maven = spawnSync('mvn', ['--version'], { encoding: 'utf8' });
  return isBuilt() || maven.status === 0 ? undefined : 'no Maven was found';
}

/** Time of the youngest file below a folder. */
function youngest(folder) {
  return Math.max(
    ...readdirSync(folder, { recursive: true }).map((name) => statSync(join(folder, name)).mtimeMs),
  );
}

function isBuilt() {
  const target = join(JAVA_PROJECT, 'target');
  const classpath = join(target, 'classpath.txt');
  const classes = join(target, 'classes');
  if (!existsSync(classpath) || !existsSync(classes)) {
    return false;
  }
  const source = Math.max(
    youngest(join(JAVA_PROJECT, 'src')),
    statSync(join(JAVA_PROJECT, 'pom.xml')).mtimeMs,
  );
  return statSync(classpath).mtimeMs >= source;
}

function buildPeer() {
  const { status } = spawnSync('mvn', ['--quiet', '--batch-mode', 'clean', 'process-classes'], {
    cwd: JAVA_PROJECT,
    stdio: 'inherit',
    timeout: MAVEN_TIMEOUT_MS,
  });
  if (status !== 0) {
    console.error('test-interop: Maven could not build the Java peer');
    process.exit(1);
  }
}

const missing = whatIsMissing();
if (missing !== undefined) {
  const isCi = (process.env.CI ?? '') !== '';
  console.log(`test-interop: ${isCi ? 'cannot run' : 'skipped'}, ${missing}`);
  process.exit(isCi ? 1 : 0);
}
if (!isBuilt()) {
  buildPeer();
}
const output = join(REPOSITORY, 'interop', 'dist');
const files = readdirSync(output)
  .filter((name) => name.endsWith('.test.js'))
  .filter((name) => positionals.length === 0 || positionals.some((part) => name.includes(part)))
  .map((name) => join(output, name))
  .sort();
if (files.length === 0) {
  console.error('test-interop: no test file found (was it built? does the filter match?)');
  process.exit(1);
}
const { status } = spawnSync(
  process.execPath,
  [
    '--enable-source-maps',
    '--test',
    // Each file has several Java processes.
    '--test-concurrency=1',
    `--test-timeout=${TEST_TIMEOUT_MS}`,
    '--test-reporter=spec',
    ...values.name.map((pattern) => `--test-name-pattern=${pattern}`),
    ...files,
  ],
  { cwd: REPOSITORY, stdio: 'inherit' },
);
process.exit(status ?? 1);
