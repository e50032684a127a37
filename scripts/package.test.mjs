/**
 * What users get: packs the library, installs the tarball into a project outside of the repository,
 * and uses it there as users do. Needs a build, and npm's cache or a registry.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { REPOSITORY } from './lib/files.mjs';

const PACKAGE = join(REPOSITORY, 'packages/kontiki');
const MODULES = join(REPOSITORY, 'node_modules');
const TIMEOUT_MS = 120_000;
const MAX_TARBALL_BYTES = 1_500_000;

const root = mkdtempSync(join(tmpdir(), 'kontiki-package-'));
const project = join(root, 'project');
let packed;

after(() => rmSync(root, { recursive: true, force: true }));

/** Runs a command to its end and returns what it printed; fails the test unless it ends with 0. */
function run(command, args, cwd = project) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd,
    encoding: 'utf8',
    timeout: TIMEOUT_MS,
    killSignal: 'SIGKILL',
    shell: process.platform === 'win32' && command === 'npm',
  });
  assert.equal(error, undefined);
  assert.equal(status, 0, `${command} ${args.join(' ')}:\n${stdout}\n${stderr}`);
  return stdout;
}

const node = (...args) => run(process.execPath, args);

/** A file of the user's project. */
function write(name, text) {
  writeFileSync(join(project, name), text);
  return name;
}

before(() => {
  mkdirSync(project);
  const answer = run('npm', ['pack', '--json', '--pack-destination', root], PACKAGE);
  [packed] = JSON.parse(answer);
  write('package.json', '{ "name": "project", "private": true, "type": "module" }\n');
  const tarball = join(root, packed.filename);
  run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', tarball]);
  // The compiler's types of Node are the user's own business.
  symlinkSync(join(MODULES, '@types'), join(project, 'node_modules/@types'), 'junction');
});

/** A group of one server that takes three writes; `types` are for the compiler. */
function program({ imports, types = false }) {
  const typed = (annotation) => (types ? annotation : '');
  return `
${imports}

class Sum extends BaseStateMachine {
  total = 0;
  ${types ? 'override ' : ''}applyTransaction(context${typed(': TransactionContext')}) {
    this.total += context.logData[0] ?? 0;
    return Uint8Array.of(this.total);
  }
  ${types ? 'override ' : ''}query() {
    return Uint8Array.of(this.total);
  }
}

async function main()${typed(': Promise<void>')} {
  const [port] = await findFreePorts(1);
  const directory = mkdtempSync(join(tmpdir(), 'kontiki-user-'));
  const peer = createPeer({ id: 'n0', address: \`127.0.0.1:\${port}\` });
  const group = createGroup(RaftGroupId.parse('packageTestGroup'), [peer]);
  const server = RaftServer.create({
    id: 'n0',
    group,
    stateMachine: new Sum(),
    options: {
      'raft.server.storage.dir': directory,
      'raft.grpc.server.host': '127.0.0.1',
      'raft.grpc.server.port': String(port),
    },
  });
  await server.start();
  const client = RaftClient.create({ group });
  for (const value of [1, 2, 3]) await client.async().send(Uint8Array.of(value));
  const reply = await client.io().sendReadOnly('');
  console.log(\`the sum is \${reply.message?.[0]}\`);
  await client.close();
  await server.close();
  rmSync(directory, { recursive: true });
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
`;
}

const NAMES = 'BaseStateMachine, createGroup, createPeer, RaftClient, RaftGroupId, RaftServer';
const NODE_IMPORTS = `import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';`;
const MODULE_IMPORTS = `${NODE_IMPORTS}
import { ${NAMES} } from 'kontiki';
import { findFreePorts } from 'kontiki/testing';`;

test('the tarball holds library, README and licence, and nothing of our tests', (context) => {
  const names = packed.files.map(({ path }) => path);
  for (const wanted of ['bin/kontiki.js', 'dist/index.js', 'dist/index.d.ts']) {
    assert.ok(names.includes(wanted), `${wanted} is missing`);
  }
  const installed = join(project, 'node_modules/kontiki');
  for (const copied of ['README.md', 'LICENSE']) {
    assert.deepEqual(
      readFileSync(join(installed, copied)),
      readFileSync(join(REPOSITORY, copied)),
      `${copied} is not the repository's`,
    );
  }
  const unwanted = /\.test\.|\.test-support\.|testdata|test-data|\/scenario\/|\.map$|\.tsbuildinfo/;
  const stray = names.filter((name) => unwanted.test(name) || name.startsWith('src/'));
  assert.deepEqual(stray, []);
  context.diagnostic(`${packed.size} bytes packed, ${packed.unpackedSize} unpacked`);
  assert.ok(packed.size < MAX_TARBALL_BYTES, `the tarball has ${packed.size} bytes`);
});

const COMPILER = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  target: 'ES2022',
  lib: ['ES2023', 'ESNext.Disposable'],
  types: ['node'],
  // Our declarations are checked with the user's code.
  skipLibCheck: false,
};
for (const [resolution, module] of [
  ['nodenext', 'nodenext'],
  ['bundler', 'esnext'],
]) {
  test(`a strict TypeScript project (${resolution}) type-checks and runs`, () => {
    const imports = `${MODULE_IMPORTS}\nimport type { TransactionContext } from 'kontiki';`;
    const name = `typed-${resolution}`;
    write(`${name}.ts`, program({ imports, types: true }));
    const compilerOptions = {
      ...COMPILER,
      module,
      moduleResolution: resolution,
      outDir: `out-${resolution}`,
    };
    const config = { compilerOptions, files: [`${name}.ts`] };
    write(`tsconfig.${resolution}.json`, JSON.stringify(config));
    node(join(MODULES, 'typescript/bin/tsc'), '-p', `tsconfig.${resolution}.json`);
    assert.match(node(`out-${resolution}/${name}.js`), /the sum is 6/);
  });
}

test('require() from CommonJS runs a server and a client', () => {
  const imports = `const { mkdtempSync, rmSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { ${NAMES} } = require('kontiki');
const { findFreePorts } = require('kontiki/testing');`;
  assert.match(node(write('common.cjs', program({ imports }))), /the sum is 6/);
});

test('a bundle made by esbuild runs a server and a client', async () => {
  const { build } = createRequire(import.meta.url)('esbuild');
  write('bundled.mjs', program({ imports: MODULE_IMPORTS }));
  await build({
    absWorkingDir: project,
    entryPoints: ['bundled.mjs'],
    outfile: 'bundle/main.mjs',
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
  });
  assert.doesNotMatch(
    readFileSync(join(project, 'bundle/main.mjs'), 'utf8'),
    /from ["']kontiki|import\(["']kontiki/,
  );
  assert.match(node('bundle/main.mjs'), /the sum is 6/);
});

test('a worker thread runs a client of a server in the main thread', () => {
  write(
    'worker.mjs',
    `import { parentPort, workerData } from 'node:worker_threads';
import { createGroup, createPeer, RaftClient, RaftGroupId } from 'kontiki';
const peer = createPeer({ id: 'n0', address: workerData.address });
const group = createGroup(RaftGroupId.parse('packageTestGroup'), [peer]);
const client = RaftClient.create({ group });
for (const value of [1, 2, 3]) await client.async().send(Uint8Array.of(value));
parentPort.postMessage((await client.io().sendReadOnly('')).message[0]);
await client.close();
`,
  );
  const imports = `${MODULE_IMPORTS}
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';`;
  const main = program({ imports }).replace(
    /const client = [\s\S]*?await client\.close\(\);/,
    `const workerData = { address: peer.address };
  const worker = new Worker(new URL('./worker.mjs', import.meta.url), { workerData });
  const exited = once(worker, 'exit');
  const [sum] = await once(worker, 'message');
  const [code] = await exited;
  console.log(\`the sum is \${sum}, and the worker ended with \${code}\`);`,
  );
  assert.match(node(write('threads.mjs', main)), /the sum is 6, and the worker ended with 0/);
});

test('the command runs from the tarball', () => {
  const { version } = JSON.parse(readFileSync(join(PACKAGE, 'package.json'), 'utf8'));
  const command = (...args) => run('npm', ['exec', '--offline', '--', 'kontiki', ...args]);
  assert.ok(command('--version').includes(version));
  assert.match(command('demo', '--help'), /--keep/);
});
