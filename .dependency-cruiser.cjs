/**
 * Who may import whom. The order of the layers is in `scripts/lib/layers.mjs`;
 * `scripts/imports.mjs` runs this and hands the list over.
 */

/** A pattern for files in any of the layers `names`. */
const inside = (layers, names) => `^${layers.LIBRARY_SOURCE}/(${names.join('|')})/`;

const LIBRARY_FILES = '[^/]+$';

/** One rule a tier: nothing in it imports from a tier above, or the entry points. */
function orderRules(layers) {
  const tests = layers.TEST_FILE.source;
  return layers.TIERS.flatMap((tier, index) => {
    const above = layers.TIERS.slice(index + 1).flat();
    if (above.length === 0) {
      return [];
    }
    const mayUseFace = tier.includes('testing');
    const entry = mayUseFace ? '' : `|^${layers.LIBRARY_SOURCE}/${LIBRARY_FILES}`;
    const from = inside(layers, tier);
    const to = { path: `${inside(layers, above)}${entry}` };
    // A test may use the test cluster and the example machines, unless it tests a pure layer.
    const pure = layers.PURE_LAYERS.includes(tier[0]);
    const toOfTests = pure ? to : { ...to, pathNot: inside(layers, ['testing', 'examples']) };
    const name = `layers-${tier.join('-')}`;
    return [
      { name, severity: 'error', from: { path: from, pathNot: tests }, to },
      {
        name: `${name}-tests`,
        severity: 'error',
        from: { path: `${from}.*${tests}` },
        to: toOfTests,
      },
    ];
  });
}

/** What one part of the house must not know of another, beyond the order. */
function separationRules(layers) {
  const source = layers.LIBRARY_SOURCE;
  const tests = layers.TEST_FILE.source;
  const raft = inside(layers, ['protocol', 'proto', 'core', 'storage', 'statemachine']);
  const never = (name, from, to) => ({
    name,
    severity: 'error',
    from: { path: from, pathNot: tests },
    to: { path: to },
  });
  return [
    never('client-never-imports-server', inside(layers, ['client']), inside(layers, ['server'])),
    never(
      'examples-never-import-testing',
      inside(layers, ['examples']),
      inside(layers, ['testing']),
    ),
    never(
      'library-never-imports-testing-examples-cli',
      `^${source}/${LIBRARY_FILES}`,
      inside(layers, ['testing', 'examples', 'cli']),
    ),
    never(
      'grpc-knows-nothing-of-raft',
      `^${source}/rpc/grpc/`,
      `${raft}|^${source}/rpc/(ratis|memory)/`,
    ),
    {
      name: 'others-use-the-public-face',
      comment: 'bench, interop and later packages import `kontiki`, not its files',
      severity: 'error',
      from: { path: '^(bench|interop|packages)/', pathNot: '^packages/kontiki/' },
      to: {
        path: `^${source}/`,
        pathNot: `^${source}/(index|testing/index|examples/index)\\.ts$`,
      },
    },
  ];
}

/** No module of Node and no package in the pure layers; see also `scripts/purity.mjs`. */
function purityRules(layers) {
  const pure = inside(layers, layers.PURE_LAYERS);
  const tests = layers.TEST_FILE.source;
  return [
    {
      name: 'pure-layers-no-node',
      severity: 'error',
      from: { path: pure, pathNot: tests },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'pure-layer-tests-few-node-modules',
      severity: 'error',
      from: { path: `${pure}.*${tests}` },
      to: {
        dependencyTypes: ['core'],
        pathNot: '^(node:)?(test|assert|assert/strict|fs|path|url|zlib|os)$',
      },
    },
    {
      name: 'pure-layers-no-packages',
      comment: 'the only package in the pure layers is the runtime of the generated code',
      severity: 'error',
      from: { path: pure, pathNot: tests },
      to: { path: 'node_modules/', pathNot: 'node_modules/@bufbuild/protobuf/' },
    },
  ];
}

function generalRules(layers) {
  const tests = layers.TEST_FILE.source;
  return [
    {
      name: 'no-cycles',
      comment:
        'types of one folder may know each other; a cycle that exists at run time may not be',
      severity: 'error',
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ['type-only'] } },
    },
    { name: 'resolvable', severity: 'error', from: {}, to: { couldNotResolve: true } },
    {
      name: 'only-tests-import-tests',
      severity: 'error',
      from: { pathNot: tests },
      to: { path: tests },
    },
  ];
}

/** @param {typeof import('./scripts/lib/layers.mjs')} layers */
module.exports = function configuration(layers) {
  return {
    forbidden: [
      ...orderRules(layers),
      ...separationRules(layers),
      ...purityRules(layers),
      ...generalRules(layers),
    ],
    options: {
      doNotFollow: { path: '(^|/)(node_modules|dist)/' },
      exclude: { path: '(^|/)(dist|build-[^/]*)/' },
      tsPreCompilationDeps: true,
      enhancedResolveOptions: {
        exportsFields: ['exports'],
        conditionNames: ['import', 'require', 'node', 'default', 'types'],
        extensions: ['.ts', '.js', '.mjs', '.cjs', '.d.ts', '.json'],
      },
    },
  };
};
