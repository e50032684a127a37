import type { MachineState } from './machine-state.js';
import type { SequenceSet } from './sequence-set.js';
import type { WriterKind } from './writer.js';

/** What a writer was told. */
export interface WriterAccount {
  readonly writer: number;
  readonly kind: WriterKind;
  readonly acknowledged: SequenceSet;
}

/** How far the servers keep what they promised. All counts must be 0. */
export interface Verdict {
  /** Acknowledged writes that a server has not, over all servers. */
  readonly lost: number;
  /** Writes that a server has applied once more, over all servers. */
  readonly appliedTwice: number;
  /** Writes of ordered writers that were applied after a later one. */
  readonly outOfOrder: number;
  /** Whether all servers applied the same writes in the same order. */
  readonly equal: boolean;
  readonly findings: readonly string[];
}

const SHOWN = 5;

/** Compares what servers have applied with each other and with what was acknowledged. */
export function judge(
  states: ReadonlyMap<string, MachineState>,
  accounts: readonly WriterAccount[],
): Verdict {
  const findings: string[] = [];
  let lost = 0;
  let appliedTwice = 0;
  let outOfOrder = 0;
  for (const [server, state] of states) {
    for (const { writer, kind, acknowledged } of accounts) {
      const found = state.writers.get(writer);
      const missing = found === undefined ? [] : [...acknowledged.missingIn(found.applied)];
      const missingCount = found === undefined ? acknowledged.count : missing.length;
      const name = `${server}: ${kind} writer ${writer}`;
      if (missingCount > 0) {
        const first = missing.slice(0, SHOWN).join(', ');
        findings.push(`${name}: ${missingCount} acknowledged writes lost (${first} ...)`);
      }
      const { duplicates = 0, disorders = 0 } = found ?? {};
      const disordered = kind === 'ordered' ? disorders : 0;
      if (duplicates > 0) findings.push(`${name}: ${duplicates} writes applied twice`);
      if (disordered > 0) findings.push(`${name}: ${disordered} writes out of order`);
      lost += missingCount;
      appliedTwice += duplicates;
      outOfOrder += disordered;
    }
  }
  const equal = sameStates([...states.values()]);
  if (!equal) {
    const each = [...states].map(([id, { writes, digest }]) => `${id} ${writes} (${digest})`);
    findings.push(`the servers differ: ${each.join(', ')}`);
  }
  return { lost, appliedTwice, outOfOrder, equal, findings };
}

/** Whether all applied the same writes in the same order. */
export function sameStates(states: readonly MachineState[]): boolean {
  const first = states[0];
  return states.every(({ writes, digest }) => writes === first?.writes && digest === first.digest);
}
