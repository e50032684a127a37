/**
 * Wraps comment lines that are too long; the formatter leaves comments alone. What overflows moves
 * to the start of the next line of the same paragraph.
 *
 *   node scripts/wrap-comments.mjs [PATH ...]     files or folders below the repository; default
 *   all
 */
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import ts from 'typescript';
import { listFiles, REPOSITORY } from './lib/files.mjs';
import { isGenerated } from './lib/layers.mjs';

const MAX_COLUMNS = 100;
const SCRIPT = /\.(ts|mts|cts|mjs|cjs|js)$/;
const FIXED = /biome-ignore|@ts-|https?:\/\/\S{60,}/;
const PREFIX = /^(\s*)(\/\/ ?|\* ?)(\s*(?:[-*] |\d+[.)] )?)/;

/** Lines (from 0) that are inside of a template literal. */
function templateLines(text) {
  const source = ts.createSourceFile('file.ts', text, ts.ScriptTarget.Latest, true);
  const lines = new Set();
  const visit = (node) => {
    if (ts.isNoSubstitutionTemplateLiteral(node) || ts.isTemplateExpression(node)) {
      const first = source.getLineAndCharacterOfPosition(node.getStart()).line;
      const last = source.getLineAndCharacterOfPosition(node.end).line;
      for (let line = first; line <= last; line += 1) {
        lines.add(line);
      }
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return lines;
}

/** Puts a comment that is alone in its block, or that stands behind code, into lines of its own. */
function unfold(line) {
  const block = /^(\s*)\/\*\*? (.*?) ?\*\/$/.exec(line);
  if (block !== null) {
    return [`${block[1]}/**`, `${block[1]} * ${block[2]}`, `${block[1]} */`];
  }
  const opening = /^(\s*)\/\*\* (.+)$/.exec(line);
  if (opening !== null) {
    return [`${opening[1]}/**`, `${opening[1]} * ${opening[2]}`];
  }
  const behind = /^(\s*)([^\s'"`/][^'"`/]*?) \/\/ (.*)$/.exec(line);
  if (behind !== null) {
    return [`${behind[1]}// ${behind[3]}`, `${behind[1]}${behind[2]}`];
  }
  return [line];
}

/** Cuts one comment line; undefined when there is no place to cut. */
function cut(line) {
  const prefix = PREFIX.exec(line);
  const at = line.lastIndexOf(' ', MAX_COLUMNS);
  if (prefix === null || at <= prefix[0].length) {
    return undefined;
  }
  const [, indent, sign, lead] = prefix;
  const continued = `${indent}${sign.trim()} ${' '.repeat(lead.length)}`;
  return { kept: line.slice(0, at).trimEnd(), rest: line.slice(at + 1), continued };
}

/** True when `line` goes on with the paragraph whose further lines start with `continued`. */
function continues(line, continued) {
  const rest = line?.startsWith(continued) ? line.slice(continued.length) : '';
  return rest !== '' && !/^(\s|\/|@|[-*|#] |\d+[.)] |```)/.test(rest);
}

function wrap(text) {
  const literal = templateLines(text);
  const lines = text.split('\n').map((line, index) => ({ line, fixed: literal.has(index) }));
  const done = [];
  while (lines.length > 0) {
    const { line, fixed } = lines.shift();
    if (fixed || line.length <= MAX_COLUMNS || FIXED.test(line)) {
      done.push(line);
      continue;
    }
    const unfolded = unfold(line);
    if (unfolded.length > 1) {
      lines.unshift(...unfolded.map((part) => ({ line: part, fixed: false })));
      continue;
    }
    const parts = cut(line);
    done.push(parts?.kept ?? line);
    if (parts !== undefined) {
      const next = lines[0];
      if (next !== undefined && !next.fixed && continues(next.line, parts.continued)) {
        next.line = `${parts.continued}${parts.rest} ${next.line.slice(parts.continued.length)}`;
      } else {
        lines.unshift({ line: `${parts.continued}${parts.rest}`, fixed: false });
      }
    }
  }
  return done.join('\n');
}

const wanted = process.argv.slice(2).map((path) => relative(REPOSITORY, resolve(path)));
const paths = (wanted.length === 0 ? ['.'] : wanted).flatMap((path) =>
  path !== '' && statSync(join(REPOSITORY, path)).isFile() ? [path] : listFiles(REPOSITORY, path),
);
let changed = 0;
for (const path of paths.filter((name) => SCRIPT.test(name) && !isGenerated(name))) {
  const text = readFileSync(join(REPOSITORY, path), 'utf8');
  const wrapped = wrap(text);
  if (wrapped !== text) {
    writeFileSync(join(REPOSITORY, path), wrapped);
    changed += 1;
  }
}
console.log(`comments: ${changed} files wrapped`);
