/** File listing shared by the scripts. */
import { existsSync, readdirSync } from 'node:fs';
import { join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The repository that these scripts belong to. */
export const REPOSITORY = resolve(fileURLToPath(new URL('../..', import.meta.url)));

const SKIPPED = /^(node_modules|dist|target|\.git|build-.*)$/;

/**
 * All files below `root`, as sorted paths relative to it, with forward slashes. Build results and
 * dependencies are left out.
 */
export function listFiles(root, under = '.') {
  const start = join(root, under);
  const found = [];
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) {
        if (!SKIPPED.test(entry.name)) {
          walk(path);
        }
      } else if (entry.isFile()) {
        found.push(relative(root, path).split(sep).join('/'));
      }
    }
  };
  if (existsSync(start)) {
    walk(start);
  }
  return found.sort();
}

/** The root to check: the first plain argument, or the repository. */
export function rootArgument(args = process.argv.slice(2)) {
  const given = args.find((argument) => !argument.startsWith('-'));
  return given === undefined ? REPOSITORY : resolve(given);
}

/** Prints what a checker found and sets the exit code. */
export function report(name, problems, summary) {
  for (const problem of problems) {
    console.error(problem);
  }
  if (problems.length > 0) {
    console.error(`${name}: ${problems.length} problem${problems.length === 1 ? '' : 's'}`);
    process.exitCode = 1;
  } else {
    console.log(`${name}: ${summary}`);
  }
}
