/**
 * Checks that the pure layers stay pure: no clock, timer, chance, process, `Buffer`, `globalThis`
 * or promise. (That they import no `node:` module is the import check's affair, see
 * `.dependency-cruiser.cjs`.)
 *
 *   node scripts/purity.mjs [ROOT]
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { listFiles, report, rootArgument } from './lib/files.mjs';
import { isGenerated, isTestFile, LIBRARY_SOURCE, PURE_LAYERS } from './lib/layers.mjs';

const FORBIDDEN = new Set([
  'Atomics',
  'Buffer',
  'Date',
  'Promise',
  'PromiseLike',
  'WeakRef',
  'FinalizationRegistry',
  'clearImmediate',
  'clearInterval',
  'clearTimeout',
  'console',
  'crypto',
  'fetch',
  'global',
  'globalThis',
  'performance',
  'process',
  'queueMicrotask',
  'require',
  'setImmediate',
  'setInterval',
  'setTimeout',
]);

/**
 * True when the identifier only names a member or a key, and so does not read the global of that
 * name.
 */
function namesAMember(node) {
  const parent = node.parent;
  return (
    (ts.isPropertyAccessExpression(parent) && parent.name === node) ||
    (ts.isQualifiedName(parent) && parent.right === node) ||
    (ts.isPropertyAssignment(parent) && parent.name === node) ||
    ((ts.isImportSpecifier(parent) || ts.isExportSpecifier(parent)) &&
      parent.propertyName === node) ||
    ((ts.isClassElement(parent) || ts.isTypeElement(parent)) && parent.name === node)
  );
}

/** The names that a file declares itself: those are not the globals. */
function declaredNames(source) {
  const names = new Set();
  const visit = (node) => {
    const name = node.name;
    const declares =
      ts.isVariableDeclaration(node) ||
      ts.isParameter(node) ||
      ts.isBindingElement(node) ||
      ts.isFunctionDeclaration(node) ||
      ts.isClassDeclaration(node) ||
      ts.isImportSpecifier(node);
    if (declares && name !== undefined && ts.isIdentifier(name)) {
      names.add(name.text);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return names;
}

/** What is impure about one node, or undefined. */
function impurity(node, own) {
  if (ts.isAwaitExpression(node) || (ts.isForOfStatement(node) && node.awaitModifier)) {
    return 'await';
  }
  if (ts.canHaveModifiers(node)) {
    const modifiers = ts.getModifiers(node) ?? [];
    if (modifiers.some((modifier) => modifier.kind === ts.SyntaxKind.AsyncKeyword)) {
      return 'an async function';
    }
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    return 'import()';
  }
  if (ts.isPropertyAccessExpression(node) && node.getText() === 'Math.random') {
    return 'Math.random';
  }
  if (ts.isIdentifier(node) && FORBIDDEN.has(node.text)) {
    return namesAMember(node) || own.has(node.text) ? undefined : node.text;
  }
  return undefined;
}

/** Problems of one source text, as `path:line: message`. */
function problemsOf(path, text) {
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  const own = declaredNames(source);
  const problems = [];
  const visit = (node) => {
    const found = impurity(node, own);
    if (found !== undefined) {
      const line = source.getLineAndCharacterOfPosition(node.getStart()).line + 1;
      problems.push(`${path}:${line}: ${found} in a pure layer`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return problems;
}

const root = rootArgument();
const files = PURE_LAYERS.flatMap((layer) => listFiles(root, `${LIBRARY_SOURCE}/${layer}`)).filter(
  (path) => path.endsWith('.ts') && !isTestFile(path) && !isGenerated(path),
);
report(
  'purity',
  files.flatMap((path) => problemsOf(path, readFileSync(join(root, path), 'utf8'))),
  `${files.length} files of the pure layers`,
);
