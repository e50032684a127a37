/**
 * Deletes what an earlier build left in `dist` and what has no source any more, so that no test or
 * module of a deleted file lives on.
 */
import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';

const COMPILED = /\.(js|js\.map|d\.ts|d\.ts\.map)$/;

/** True when a file of `src` yields `name` in `dist`. */
function hasSource(sourceFolder, name) {
  const stem = name.replace(COMPILED, '');
  return existsSync(join(sourceFolder, name)) || existsSync(join(sourceFolder, `${stem}.ts`));
}

/** Cleans one folder and those below it; says how many files went. */
function cleanFolder(sourceFolder, distFolder) {
  let removed = 0;
  for (const entry of readdirSync(distFolder, { withFileTypes: true })) {
    const path = join(distFolder, entry.name);
    if (entry.isDirectory()) {
      removed += cleanFolder(join(sourceFolder, entry.name), path);
    } else if (entry.name !== '.tsbuildinfo' && !hasSource(sourceFolder, entry.name)) {
      rmSync(path);
      removed += 1;
    }
  }
  if (!existsSync(sourceFolder) && readdirSync(distFolder).length === 0) {
    rmdirSync(distFolder);
  }
  return removed;
}

/** Cleans `dist` of the package in `home`. */
export function cleanStale(home) {
  const dist = join(home, 'dist');
  return existsSync(dist) ? cleanFolder(join(home, 'src'), dist) : 0;
}
