/**
 * Checks the order of the layers, see `.dependency-cruiser.cjs`.
 *
 *   node scripts/imports.mjs [ROOT]
 */
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { cruise } from 'dependency-cruiser';
import extractTsConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { report, rootArgument } from './lib/files.mjs';
import * as layers from './lib/layers.mjs';

const configuration = createRequire(import.meta.url)('../.dependency-cruiser.cjs')(layers);

const root = rootArgument();
const tsConfig = join(root, 'tsconfig.verify.json');
const folders = ['packages/kontiki/src', 'bench/src', 'interop/src'].filter((path) =>
  existsSync(join(root, path)),
);
const result = await cruise(
  folders,
  {
    ruleSet: { forbidden: configuration.forbidden },
    validate: true,
    baseDir: root,
    ...configuration.options,
    ...(existsSync(tsConfig) ? { tsConfig: { fileName: tsConfig } } : {}),
  },
  undefined,
  existsSync(tsConfig) ? { tsConfig: extractTsConfig(tsConfig) } : undefined,
);
const { violations, totalCruised } = result.output.summary;
const problems = violations.map(({ from, to, rule, cycle }) => {
  const way = cycle === undefined ? to : cycle.map((step) => step.name).join(' -> ');
  return `${from} -> ${way}: ${rule.name}`;
});
report('imports', [...new Set(problems)], `${totalCruised} modules`);
