/** Each checker refuses what it is there to refuse, and passes a tree that keeps the rules. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { REPOSITORY } from './lib/files.mjs';

const SOURCE = 'packages/kontiki/src';

/** A small tree that keeps all rules. */
const GOOD = {
  [`${SOURCE}/common/units.ts`]: 'export const KIB = 1024;\n',
  [`${SOURCE}/core/vote.ts`]:
    "import { KIB } from '../common/units.js';\n\nexport const A = KIB;\n",
  [`${SOURCE}/core/vote.test.ts`]:
    "import 'node:test';\nimport { A } from './vote.js';\n\nexport default A;\n",
  [`${SOURCE}/server/server.ts`]: "import { A } from '../core/vote.js';\n\nexport const B = A;\n",
  [`${SOURCE}/client/client.ts`]:
    "import { KIB } from '../common/units.js';\n\nexport const C = KIB;\n",
  [`${SOURCE}/testing/cluster.ts`]:
    "import { B } from '../server/server.js';\n\nexport const D = B;\n",
  [`${SOURCE}/server/server.test.ts`]:
    "import { D } from '../testing/cluster.js';\n\nexport default D;\n",
};

/** Runs a checker over the good tree with `files` put in. */
function check(script, files) {
  const root = mkdtempSync(join(tmpdir(), 'kontiki-verify-'));
  try {
    for (const [path, text] of Object.entries({ ...GOOD, ...files })) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const result = spawnSync(process.execPath, [join(REPOSITORY, 'scripts', script), root], {
      encoding: 'utf8',
    });
    return { status: result.status, output: result.stdout + result.stderr };
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

function passes(script) {
  test(`${script} passes a tree that keeps the rules`, () => {
    const { status, output } = check(script, {});
    assert.equal(status, 0, output);
  });
}

/** `text` in a file `path` must be refused with a message that matches. */
function refuses(script, what, path, text, message) {
  test(`${script} refuses ${what}`, () => {
    const { status, output } = check(script, { [path]: text });
    assert.equal(status, 1, output);
    assert.match(output, message);
  });
}

/** As `refuses`, for an import. */
function refusesImport(what, path, imported, message) {
  refuses('imports.mjs', what, `${SOURCE}/${path}`, `import '${imported}';\n`, message);
}

passes('imports.mjs');
refusesImport('an import upwards', 'common/up.ts', '../core/vote.js', /layers-common/);
refusesImport('the engine to import a server', 'core/up.ts', '../server/server.js', /layers-core/);
refusesImport(
  'an upward import in a test of a pure layer',
  'core/up.test.ts',
  '../testing/cluster.js',
  /layers-core-tests/,
);
refusesImport(
  'the client to import the server',
  'client/x.ts',
  '../server/server.js',
  /client-never/,
);
refusesImport(
  'the server to import testing',
  'server/x.ts',
  '../testing/cluster.js',
  /layers-server/,
);
refusesImport(
  'the entry point to import testing',
  'index.ts',
  './testing/cluster.js',
  /library-never-imports/,
);
refusesImport('node: in the engine', 'core/x.ts', 'node:fs', /pure-layers-no-node/);
refusesImport('a bare Node module in the engine', 'core/x.ts', 'fs', /pure-layers-no-node/);
refusesImport('a socket in a test of the engine', 'core/x.test.ts', 'node:net', /few-node-modules/);
refusesImport('the transport to know of Raft', 'rpc/grpc/x.ts', '../../core/vote.js', /grpc-knows/);
refusesImport('an import of nothing', 'core/x.ts', './nowhere.js', /resolvable/);
refusesImport('a test as part of the library', 'server/x.ts', './server.test.js', /only-tests/);
refuses(
  'imports.mjs',
  'an upward import of types alone',
  `${SOURCE}/common/x.ts`,
  "import type { A } from '../core/vote.js';\n\nexport type X = typeof A;\n",
  /layers-common/,
);
test('imports.mjs refuses a cycle of two files', () => {
  const { status, output } = check('imports.mjs', {
    [`${SOURCE}/server/one.ts`]: "import './two.js';\n",
    [`${SOURCE}/server/two.ts`]: "import './one.js';\n",
  });
  assert.equal(status, 1, output);
  assert.match(output, /no-cycles/);
});

test('imports.mjs lets two files of a layer know the types of each other', () => {
  const { status, output } = check('imports.mjs', {
    [`${SOURCE}/server/one.ts`]: "import type { Two } from './two.js';\n\nexport type One = Two;\n",
    [`${SOURCE}/server/two.ts`]: "import { type One } from './one.js';\n\nexport type Two = One;\n",
  });
  assert.equal(status, 0, output);
});

passes('purity.mjs');
for (const [what, text] of [
  ['Date', 'export const now = (): number => Date.now();\n'],
  ['Math.random', 'export const dice = (): number => Math.random();\n'],
  ['setTimeout', 'setTimeout(() => undefined, 1);\n'],
  ['queueMicrotask', 'queueMicrotask(() => undefined);\n'],
  ['performance', 'export const now = performance.now();\n'],
  ['process', 'export const id = process.pid;\n'],
  ['Buffer', 'export const empty = Buffer.alloc(0);\n'],
  ['globalThis', "export const clock = globalThis['Date'];\n"],
  ['Promise', 'export type Later = Promise<void>;\n'],
  ['an async function', 'export async function later() {}\n'],
  ['an async function', 'export const later = async () => undefined;\n'],
  ['await', 'await undefined;\n'],
]) {
  refuses('purity.mjs', `${what}: ${text.trim()}`, `${SOURCE}/core/x.ts`, text, new RegExp(what));
}
test('purity.mjs leaves names alone that only look like globals', () => {
  const text = 'export const f = (o: { Date: 1 }, process: number): number => o.Date + process;\n';
  const { status, output } = check('purity.mjs', { [`${SOURCE}/core/x.ts`]: text });
  assert.equal(status, 0, output);
});
test('purity.mjs leaves the layers above and tests alone', () => {
  const text = 'export const now = Date.now();\n';
  const { status, output } = check('purity.mjs', {
    [`${SOURCE}/server/x.ts`]: text,
    [`${SOURCE}/core/x.test.ts`]: text,
  });
  assert.equal(status, 0, output);
});

const lines = (count) => 'export {};\n'.repeat(count);
const longFunction = `export function f(): void {\n${'  f();\n'.repeat(69)}}\n`;
passes('tidy.mjs');
const TIDY = [
  ['a file of more than 600 lines', lines(601), /601 lines \(at most 600\)/],
  ['a function of more than 70 lines', longFunction, /f has 71 lines \(at most 70\)/],
  ['a line of more than 100 columns', `// ${'x'.repeat(98)}\n`, /101 columns/],
  ['a tab', 'export\tconst x = 1;\n', /a tab/],
  ['blanks at the end of a line', 'export const x = 1; \n', /blanks at the end/],
  ['a missing line feed', 'export const x = 1;', /no line feed/],
  ['a mark of unfinished work', `// ${'TO'}${'DO'}: later\n`, /unfinished work/],
  ["a path of someone's machine", `export const x = '/${'work'}/x';\n`, /someone's machine/],
  ['a registry host', `// ${'https:/'}/registry.example.org/\n`, /registry host/],
];
for (const [what, text, message] of TIDY) {
  refuses('tidy.mjs', what, `${SOURCE}/core/x.ts`, text, message);
}
refuses(
  'tidy.mjs',
  'a test that silences all others',
  `${SOURCE}/core/x.test.ts`,
  `test${'.only'}('x', () => undefined);\n`,
  /silences/,
);
test('tidy.mjs lets a suite be long, and nothing else in a test', () => {
  const path = `${SOURCE}/core/x.test.ts`;
  const body = '  f();\n'.repeat(70);
  const suite = check('tidy.mjs', { [path]: `describe('x', () => {\n${body}});\n` });
  assert.equal(suite.status, 0, suite.output);
  const single = check('tidy.mjs', { [path]: `test('x', () => {\n${body}});\n` });
  assert.equal(single.status, 1, single.output);
});
test('tidy.mjs lets a file of 600 lines pass', () => {
  const { status, output } = check('tidy.mjs', { [`${SOURCE}/core/x.ts`]: lines(600) });
  assert.equal(status, 0, output);
});

const PROTO_FILES = {
  'packages/kontiki/buf.yaml': 'version: v2\nmodules:\n  - path: src/proto\n',
  'packages/kontiki/buf.gen.yaml':
    'version: v2\nplugins:\n  - local: protoc-gen-es\n    out: src/proto/gen\n    opt: target=ts\n',
  [`${SOURCE}/proto/x.proto`]: 'syntax = "proto3";\n\nmessage X {\n  int32 y = 1;\n}\n',
};
test('generate.mjs keeps the reference of keys in step with the registry', () => {
  const root = mkdtempSync(join(tmpdir(), 'kontiki-verify-'));
  const markdown = (page) =>
    `export const configurationPage = () => '${page}\\n';\n` +
    "export const unusedKeysTable = () => '| a | b |\\n';\n";
  const files = {
    ...PROTO_FILES,
    [`${SOURCE}/config/markdown.ts`]: markdown('first'),
    'docs/divergence.md':
      'above\n<!-- generated: keys without effect -->\n<!-- end of generated -->\nbelow\n',
  };
  const write = (path, text) => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  try {
    for (const [path, text] of Object.entries(files)) write(path, text);
    const run = (...args) =>
      spawnSync(process.execPath, [join(REPOSITORY, 'scripts/generate.mjs'), root, ...args], {
        encoding: 'utf8',
      });
    assert.match(run('--check').stderr, /docs\/configuration\.md: out of step/);
    assert.equal(run().status, 0);
    assert.equal(run('--check').status, 0);
    assert.equal(readFileSync(join(root, 'docs/configuration.md'), 'utf8'), 'first\n');
    assert.match(
      readFileSync(join(root, 'docs/divergence.md'), 'utf8'),
      /^above\n<!-- .* -->\n\n\| a \| b \|\n\n<!-- .* -->\nbelow\n$/,
    );
    write(`${SOURCE}/config/markdown.ts`, markdown('second'));
    const after = run('--check');
    assert.equal(after.status, 1);
    assert.match(after.stderr, /docs\/configuration\.md: out of step/);
    assert.doesNotMatch(after.stderr, /divergence/);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});

test('generate.mjs writes files that its check accepts, and that it refuses once changed', () => {
  const root = mkdtempSync(join(tmpdir(), 'kontiki-verify-'));
  try {
    for (const [path, text] of Object.entries(PROTO_FILES)) {
      mkdirSync(dirname(join(root, path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    const run = (...args) =>
      spawnSync(process.execPath, [join(REPOSITORY, 'scripts/generate.mjs'), root, ...args], {
        encoding: 'utf8',
      });
    const before = run('--check');
    assert.equal(before.status, 1, before.stdout);
    assert.match(before.stderr, /x_pb\.ts: missing/);
    assert.equal(run().status, 0);
    assert.equal(run('--check').status, 0);
    writeFileSync(
      join(root, SOURCE, 'proto/x.proto'),
      PROTO_FILES[`${SOURCE}/proto/x.proto`].replace('int32', 'int64'),
    );
    const after = run('--check');
    assert.equal(after.status, 1);
    assert.match(after.stderr, /out of step/);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
