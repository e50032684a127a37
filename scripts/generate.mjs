/**
 * Generates `src/proto/gen` from our `.proto` files. Works without a network: the plugin is a dev
 * dependency.
 *
 *   node scripts/generate.mjs             writes
 *   node scripts/generate.mjs --check     compares, and fails when the generated files are out of
 *   step
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { cp, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { listFiles, REPOSITORY, report, rootArgument } from './lib/files.mjs';

const OUTPUT = 'src/proto/gen';

/** Runs buf in `home`, with all output below `target`. */
function generate(home, target) {
  const bin = join(REPOSITORY, 'node_modules', '.bin');
  const result = spawnSync(join(bin, 'buf'), ['generate', '--output', target], {
    cwd: home,
    encoding: 'utf8',
    env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` },
    shell: process.platform === 'win32',
  });
  if (result.status !== 0) {
    throw new Error(`buf generate failed: ${result.error?.message ?? result.stderr}`);
  }
}

/** What differs between the fresh files and those in the tree. */
function differences(fresh, home) {
  const expected = listFiles(fresh, OUTPUT);
  const present = listFiles(home, OUTPUT);
  const problems = [];
  for (const path of expected) {
    if (!present.includes(path)) {
      problems.push(`${path}: missing`);
    } else if (!readFileSync(join(fresh, path)).equals(readFileSync(join(home, path)))) {
      problems.push(`${path}: out of step with its .proto file`);
    }
  }
  for (const path of present) {
    if (!expected.includes(path)) {
      problems.push(`${path}: has no .proto file any more`);
    }
  }
  return { problems, count: expected.length };
}

const home = join(rootArgument(), 'packages', 'kontiki');
const check = process.argv.includes('--check');
if (!listFiles(home, 'src/proto').some((path) => path.endsWith('.proto'))) {
  report('generated files', check ? ['src/proto: no .proto file'] : [], 'no .proto file');
} else {
  const fresh = mkdtempSync(join(tmpdir(), 'kontiki-generate-'));
  try {
    generate(home, fresh);
    const { problems, count } = differences(fresh, home);
    if (check) {
      report('generated files', problems, `${count} in step`);
    } else if (problems.length > 0) {
      rmSync(join(home, OUTPUT), { recursive: true, force: true });
      await mkdir(join(home, OUTPUT), { recursive: true });
      if (existsSync(join(fresh, OUTPUT))) {
        await cp(join(fresh, OUTPUT), join(home, OUTPUT), { recursive: true });
      }
      console.log(`generated files: ${count} written`);
    } else {
      console.log(`generated files: ${count} already in step`);
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
