/**
 * Builds every package into its `dist`: deletes stale output, compiles, copies the files that are
 * not TypeScript (scenario texts, test data).
 *
 *   node scripts/build.mjs
 */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cleanStale } from './clean-stale.mjs';
import { listFiles, REPOSITORY } from './lib/files.mjs';

const PACKAGES = ['packages/kontiki', 'bench', 'interop'];
const NOT_COPIED = /\.(ts|mts|cts|proto)$/;

/** Copies the assets that changed. */
function copyAssets(home) {
  let copied = 0;
  for (const path of listFiles(home, 'src').filter((file) => !NOT_COPIED.test(file))) {
    const from = join(home, path);
    const to = join(home, 'dist', path.slice('src/'.length));
    const source = statSync(from);
    const target = existsSync(to) ? statSync(to) : undefined;
    if (target?.size !== source.size || target.mtimeMs < source.mtimeMs) {
      mkdirSync(dirname(to), { recursive: true });
      copyFileSync(from, to);
      copied += 1;
    }
  }
  return copied;
}

/**
 * The compiler trusts its notes on what it has emitted; they are worth nothing when the output is
 * gone.
 */
function dropOrphanedNotes(home) {
  const compiled = listFiles(home, 'src').filter((path) => path.endsWith('.ts'));
  const missing = compiled.some((path) => {
    const output = path.replace(/^src\//, 'dist/').replace(/\.ts$/, '.js');
    return !path.endsWith('.d.ts') && !existsSync(join(home, output));
  });
  if (missing) {
    rmSync(join(home, 'dist', '.tsbuildinfo'), { force: true });
  }
}

const started = performance.now();
const homes = PACKAGES.map((name) => join(REPOSITORY, name)).filter((home) =>
  listFiles(home, 'src').some((path) => path.endsWith('.ts')),
);
let removed = 0;
for (const home of homes) {
  removed += cleanStale(home);
  dropOrphanedNotes(home);
}
const compiler = join(REPOSITORY, 'node_modules', 'typescript', 'bin', 'tsc');
const result = spawnSync(process.execPath, [compiler, '-b', ...homes], { stdio: 'inherit' });
if (result.status !== 0) {
  console.error('build: the compiler found errors');
  process.exit(result.status ?? 1);
}
const copied = homes.reduce((count, home) => count + copyAssets(home), 0);
const seconds = ((performance.now() - started) / 1000).toFixed(1);
console.log(`build: done in ${seconds} s (${removed} stale removed, ${copied} assets copied)`);
