/** Position of a log entry. Ordered by term, then by index (spec: consensus 0.1). */
export interface TermIndex {
  readonly term: number;
  readonly index: number;
}

/** No index. Travels as 2^64-1. */
export const INVALID_INDEX = -1;
/** Index of a log's first entry. */
export const LEAST_VALID_INDEX = 0;
/** Position before the first entry of a log. */
export const INITIAL_TERM_INDEX: TermIndex = Object.freeze({ term: 0, index: -1 });

/** Negative, zero or positive, as `a` is before, at or behind `b`. */
export function compareTermIndex(a: TermIndex, b: TermIndex): number {
  return a.term !== b.term ? a.term - b.term : a.index - b.index;
}

export function equalTermIndex(a: TermIndex | undefined, b: TermIndex | undefined): boolean {
  return (
    a === b || (a !== undefined && b !== undefined && a.term === b.term && a.index === b.index)
  );
}

export function formatTermIndex(t: TermIndex | undefined): string {
  return t === undefined ? 'none' : `(t:${t.term}, i:${t.index})`;
}
