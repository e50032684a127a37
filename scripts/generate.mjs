/**
 * Generates the code of our `.proto` files, those of the wire protocol and those of the examples,
 * and the reference of configuration keys in `docs`. Works without a network: the plugin is a dev
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
import { generateReference } from './lib/reference.mjs';

/** Where `.proto` files are, each with its own template, and where the code goes. */
const MODULES = [
  { source: 'src/proto', template: 'buf.gen.yaml', output: 'src/proto/gen' },
  {
    source: 'src/examples/filestore',
    template: 'buf.gen.examples.yaml',
    output: 'src/examples/filestore/gen',
  },
];

/** Runs buf in `home` for one module, with all output below `target`. */
function generate(home, target, { source, template }) {
  const bin = join(REPOSITORY, 'node_modules', '.bin');
  const result = spawnSync(
    join(bin, 'buf'),
    ['generate', '--template', template, '--output', target, source],
    {
      cwd: home,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env.PATH ?? ''}` },
      shell: process.platform === 'win32',
    },
  );
  if (result.status !== 0) {
    throw new Error(`buf generate failed: ${result.error?.message ?? result.stderr}`);
  }
}

/** What differs between the fresh files and those in the tree. */
function differences(fresh, home, output) {
  const expected = listFiles(fresh, output);
  const present = listFiles(home, output);
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

/** Puts the fresh files of a module in the place of those in the tree. */
async function replace(fresh, home, output) {
  rmSync(join(home, output), { recursive: true, force: true });
  await mkdir(join(home, output), { recursive: true });
  if (existsSync(join(fresh, output))) {
    await cp(join(fresh, output), join(home, output), { recursive: true });
  }
}

const root = rootArgument();
const home = join(root, 'packages', 'kontiki');
const check = process.argv.includes('--check');
const hasProtos = ({ source }) => listFiles(home, source).some((path) => path.endsWith('.proto'));
const modules = MODULES.filter(hasProtos);
if (!modules.some(({ source }) => source === 'src/proto')) {
  report('generated files', check ? ['src/proto: no .proto file'] : [], 'no .proto file');
} else {
  const fresh = mkdtempSync(join(tmpdir(), 'kontiki-generate-'));
  try {
    const problems = [];
    let count = 0;
    for (const module of modules) {
      generate(home, fresh, module);
      const found = differences(fresh, home, module.output);
      count += found.count;
      problems.push(...found.problems);
      if (!check && found.problems.length > 0) {
        await replace(fresh, home, module.output);
      }
    }
    const reference = await generateReference(root, { check });
    count += reference.count;
    problems.push(...reference.problems);
    if (check) {
      report('generated files', problems, `${count} in step`);
    } else {
      const what = problems.length > 0 ? 'written' : 'already in step';
      console.log(`generated files: ${count} ${what}`);
    }
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
