/**
 * The style rules that neither the formatter nor the linter knows: length of files, functions and
 * lines, stray blanks, forbidden marks and words.
 *
 *   node scripts/tidy.mjs [ROOT] [--hints]     --hints also lists files above 300 lines
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { listFiles, report, rootArgument } from './lib/files.mjs';
import { isGenerated, isTestFile } from './lib/layers.mjs';

const MAX_FILE_LINES = 600;
const LONG_FILE_LINES = 300;
const MAX_FUNCTION_LINES = 70;
const MAX_COLUMNS = 100;

const SCRIPT = /\.(ts|mts|cts|mjs|cjs|js)$/;
const TEXT = /(\.(ts|mts|cts|mjs|cjs|js|json|md|proto|ya?ml|txt|tsv|sh)|\/\.ci\/run|^\.ci\/run)$/;
const DATA = /(^|\/)(test-?data|vectors|results)\/|package-lock\.json$/;

/** Written so that this file does not hold the words themselves. */
const mark = (...parts) => new RegExp(`\\b${parts.join('')}\\b`);
const FORBIDDEN = [
  { pattern: mark('TO', 'DO'), why: 'unfinished work' },
  { pattern: mark('FIX', 'ME'), why: 'unfinished work' },
  { pattern: mark('X', 'XX'), why: 'unfinished work' },
  { pattern: new RegExp(`(^|[\\s"'\`(=:])/${'work'}/`), why: "a path of someone's machine" },
  { pattern: new RegExp(`(^|[\\s"'\`(=:])/${'root'}/`), why: "a path of someone's machine" },
  { pattern: new RegExp(`/${'tmp'}/kt\\b`), why: "a path of someone's machine" },
  { pattern: /https?:\/\/[^\s/]*(artifactory|nexus|registry|verdaccio)/i, why: 'a registry host' },
];
const PUBLIC_REGISTRY = ['https:', '', 'registry.npmjs.org'].join('/');
/** Lines that cannot be cut. */
const UNBREAKABLE = /https?:\/\/\S{60,}|biome-ignore/;
const ONLY = /\b(test|it|describe|suite)\.only\(|\bonly: true/;

/** Suites are lists of tests and may be long: callbacks, and functions named `describe...`. */
function isSuite(node) {
  const call = node.parent;
  const names = ts.isCallExpression(call) ? call.expression : node.name;
  return names !== undefined && /^(describe([A-Z]\w*)?|suite)$/.test(names.getText());
}

function longFunctions(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line + 1;
  const problems = [];
  const visit = (node) => {
    if (
      ts.isFunctionLike(node) &&
      node.body !== undefined &&
      !(isTestFile(path) && isSuite(node))
    ) {
      const first = lineAt(node.getStart());
      const lines = lineAt(node.end) - first + 1;
      if (lines > MAX_FUNCTION_LINES) {
        const name = node.name?.getText() ?? 'a function';
        problems.push(
          `${path}:${first}: ${name} has ${lines} lines (at most ${MAX_FUNCTION_LINES})`,
        );
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return problems;
}

function lineProblems(path, line, number) {
  const problems = [];
  const add = (message) => problems.push(`${path}:${number}: ${message}`);
  if (line.includes('\t')) {
    add('a tab');
  }
  if (/[ \t\r]$/.test(line) && !path.endsWith('.txt')) {
    add('blanks at the end of the line');
  }
  if (SCRIPT.test(path) && [...line].length > MAX_COLUMNS && !UNBREAKABLE.test(line)) {
    add(`${[...line].length} columns (at most ${MAX_COLUMNS})`);
  }
  for (const { pattern, why } of FORBIDDEN) {
    const found = pattern.exec(line);
    if (found !== null) {
      add(`${found[0].trim()}: ${why}`);
    }
  }
  if (isTestFile(path) && ONLY.test(line)) {
    add('a test that silences all others');
  }
  return problems;
}

function problemsOf(path, text) {
  const lines = text.split('\n');
  const count = text.endsWith('\n') ? lines.length - 1 : lines.length;
  const problems = lines.flatMap((line, index) => lineProblems(path, line, index + 1));
  if (text.length > 0 && !text.endsWith('\n')) {
    problems.push(`${path}:${count}: no line feed at the end`);
  }
  if (SCRIPT.test(path)) {
    if (count > MAX_FILE_LINES) {
      problems.push(`${path}: ${count} lines (at most ${MAX_FILE_LINES})`);
    }
    problems.push(...longFunctions(path, text));
  }
  return { count, problems };
}

/** A lock file must not name the registry of one machine. */
function lockProblems(root, files) {
  if (!files.includes('package-lock.json')) {
    return [];
  }
  const text = readFileSync(join(root, 'package-lock.json'), 'utf8');
  const hosts = new Set([...text.matchAll(/"resolved": "(https?:\/\/[^/"]+)/g)].map((m) => m[1]));
  hosts.delete(PUBLIC_REGISTRY);
  return [...hosts].map(() => 'package-lock.json: "resolved" names a private registry');
}

const root = rootArgument();
const all = listFiles(root);
const files = all.filter((path) => TEXT.test(path) && !DATA.test(path) && !isGenerated(path));
const problems = lockProblems(root, all);
const long = [];
for (const path of files) {
  const found = problemsOf(path, readFileSync(join(root, path), 'utf8'));
  problems.push(...found.problems);
  if (SCRIPT.test(path) && found.count > LONG_FILE_LINES && found.count <= MAX_FILE_LINES) {
    long.push(`${path} (${found.count})`);
  }
}
if (process.argv.includes('--hints')) {
  console.log(long.map((file) => `long: ${file}`).join('\n'));
}
report('tidy', problems, `${files.length} files, ${long.length} above ${LONG_FILE_LINES} lines`);
