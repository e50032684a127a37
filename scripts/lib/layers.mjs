/**
 * The layers of `packages/kontiki/src` and what may import what. The import check
 * (`.dependency-cruiser.cjs`), the purity check and the tidy check all read this one list.
 */

/** From the bottom up; an import may point to the own tier or to one below it. */
export const TIERS = [
  ['common'],
  ['config', 'metrics'],
  ['protocol'],
  ['proto'],
  ['core'],
  ['runtime'],
  ['storage'],
  ['statemachine'],
  ['rpc'],
  ['server', 'client'],
  ['testing', 'examples'],
  ['cli'],
];

/** Layers without input and output, time, chance and promises. */
export const PURE_LAYERS = ['common', 'config', 'metrics', 'protocol', 'proto', 'core'];

/** Where the library's sources are, below the root that is checked. */
export const LIBRARY_SOURCE = 'packages/kontiki/src';

/** Tests and their helpers; `npm pack` leaves them out of the package. */
export const TEST_FILE = /\.test(-support)?\.[cm]?[jt]s$/;

/** @param {string} path a path with forward slashes, relative to the checked root */
export function isTestFile(path) {
  return TEST_FILE.test(path);
}

/** Code that a tool writes is checked by being generated again, not by reading it. */
export function isGenerated(path) {
  return /\/(proto|filestore)\/gen\//.test(path);
}

/**
 * The layer that a file belongs to, or undefined for files outside the library and for its entry
 * points.
 */
export function layerOf(path) {
  if (!path.startsWith(`${LIBRARY_SOURCE}/`)) {
    return undefined;
  }
  const rest = path.slice(LIBRARY_SOURCE.length + 1);
  const slash = rest.indexOf('/');
  return slash < 0 ? undefined : rest.slice(0, slash);
}
