/** The pages, and parts of pages, that are generated from the registry of configuration keys. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';

const SOURCE = 'packages/kontiki/src/config/markdown.ts';
const PAGE = 'docs/configuration.md';
const PAGE_WITH_TABLE = 'docs/divergence.md';
const BLOCK = /(<!-- generated: keys without effect -->\n)[\s\S]*?(<!-- end of generated -->)/;

/** Loads the module that writes Markdown, without a build. */
async function loadMarkdown(root) {
  const result = await build({
    entryPoints: [join(root, SOURCE)],
    bundle: true,
    format: 'esm',
    platform: 'neutral',
    write: false,
    logLevel: 'silent',
  });
  const code = Buffer.from(result.outputFiles[0].contents).toString('base64');
  return import(`data:text/javascript;base64,${code}`);
}

/** What each page should hold, by path. */
async function expectedPages(root) {
  const { configurationPage, unusedKeysTable } = await loadMarkdown(root);
  const pages = new Map([[PAGE, configurationPage()]]);
  const text = readFileSync(join(root, PAGE_WITH_TABLE), 'utf8');
  if (!BLOCK.test(text)) {
    throw new Error(`${PAGE_WITH_TABLE} has lost the marks around its generated table`);
  }
  // A function, as a key may hold what a replacement text takes for a reference.
  pages.set(
    PAGE_WITH_TABLE,
    text.replace(BLOCK, (_all, start, end) => `${start}\n${unusedKeysTable()}\n${end}`),
  );
  return pages;
}

/**
 * Compares the pages with the registry, and writes those that differ unless `check`. Gives what was
 * wrong and how many pages there are: none in a tree without a registry.
 */
export async function generateReference(root, { check }) {
  const problems = [];
  if (!existsSync(join(root, SOURCE))) {
    return { problems, count: 0 };
  }
  const pages = await expectedPages(root);
  for (const [path, text] of pages) {
    const file = join(root, path);
    if (existsSync(file) && readFileSync(file, 'utf8') === text) {
      continue;
    }
    problems.push(`${path}: out of step with the registry of configuration keys`);
    if (!check) {
      writeFileSync(file, text);
    }
  }
  return { problems, count: pages.size };
}
