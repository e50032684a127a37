import type { CoreState } from './state.js';

/**
 * Terms grow by elections, one at a time: this many are never reached. A greater one is no term of
 * a correct peer, and taking it over would leave no room below 2^53 for the elections to come: the
 * group were lost for good.
 */
const PLAUSIBLE_TERM_MAX = 2 ** 52;
/** How far above the own term a peer may be in a group that is beyond the limit already. */
const PLAUSIBLE_STEP = 2 ** 20;

/** Whether a term that a peer tells can be true; an implausible one is never taken over. */
export function isPlausibleTerm(s: CoreState, term: number): boolean {
  return term <= Math.max(PLAUSIBLE_TERM_MAX, s.term + PLAUSIBLE_STEP);
}

export function implausible(term: number): string {
  return `term ${term} cannot be reached by elections`;
}
