import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BaseStateMachine, type TransactionContext } from '../../statemachine/index.js';
import { judge, sameStates } from './judge.js';
import { decodeState, type MachineState } from './machine-state.js';
import RecordingMachine from './recording-machine.js';
import { encodeRecord } from './records.js';
import { SequenceSet } from './sequence-set.js';

/** The state after writes of writer 1. */
function stateAfter(...sequences: number[]): MachineState {
  const machine = new RecordingMachine();
  assert.ok(machine instanceof BaseStateMachine);
  for (const sequence of sequences) {
    const logData = encodeRecord({ writer: 1, sequence });
    machine.applyTransaction({ logData } as TransactionContext);
  }
  return decodeState(machine.query(new Uint8Array(0)));
}

function account(...sequences: number[]) {
  const acknowledged = new SequenceSet();
  for (const sequence of sequences) acknowledged.add(sequence);
  return { writer: 1, kind: 'ordered', acknowledged } as const;
}

function judgeStates(states: readonly MachineState[], acknowledged: readonly number[]) {
  const named = new Map(states.map((state, i) => [`n${i}`, state]));
  return judge(named, [account(...acknowledged)]);
}

test('finds nothing where all servers have all writes once', () => {
  const verdict = judgeStates([stateAfter(0, 1, 2), stateAfter(0, 1, 2)], [0, 1, 2]);
  assert.deepEqual(verdict, {
    lost: 0,
    appliedTwice: 0,
    outOfOrder: 0,
    equal: true,
    findings: [],
  });
});

test('does not miss a write that nobody acknowledged', () => {
  assert.equal(judgeStates([stateAfter(0, 2)], [0, 2]).lost, 0);
  assert.equal(judgeStates([stateAfter(0, 1, 2)], [0, 2]).lost, 0);
});

test('counts an acknowledged write that a server has not', () => {
  const verdict = judgeStates([stateAfter(0, 1, 2), stateAfter(0, 2)], [0, 1, 2]);
  assert.equal(verdict.lost, 1);
  assert.equal(verdict.equal, false);
  assert.match(verdict.findings.join('\n'), /n1: ordered writer 1: 1 acknowledged writes lost \(1/);
});

test('counts all writes of a writer that a server does not know', () => {
  assert.equal(judgeStates([stateAfter()], [0, 1]).lost, 2);
});

test('counts a write that was applied twice', () => {
  const verdict = judgeStates([stateAfter(0, 1, 1)], [0, 1]);
  assert.equal(verdict.appliedTwice, 1);
  assert.equal(verdict.lost, 0);
});

test('counts a write that came after a later one', () => {
  assert.equal(judgeStates([stateAfter(0, 2, 1)], [0, 1, 2]).outOfOrder, 1);
});

test('tells servers apart that applied the same writes in another order', () => {
  assert.equal(sameStates([stateAfter(0, 1), stateAfter(0, 1)]), true);
  assert.equal(sameStates([stateAfter(0, 1), stateAfter(1, 0)]), false);
});

test('a machine refuses a damaged write', () => {
  const logData = encodeRecord({ writer: 1, sequence: 5 });
  logData[20] = (logData[20] ?? 0) ^ 1;
  const machine = new RecordingMachine();
  assert.throws(() => machine.applyTransaction({ logData } as TransactionContext), /damaged/);
});
