import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createConfiguration, type RaftConfiguration } from '../protocol/configuration.js';
import {
  allVoters,
  combineLevels,
  hasMajority,
  isSingleMode,
  isSingleton,
  levelsOf,
  majorityRejects,
  otherVoters,
  priorityOf,
} from './quorum.js';
import { peersOf } from './scenario/parse.test-support.js';

function conf(cur: string, old?: string, listeners = ''): RaftConfiguration {
  const priorities = new Map([['n2', 7]]);
  const side = { voters: peersOf(cur, priorities), listeners: peersOf(listeners, priorities) };
  const oldSide = { voters: peersOf(old ?? '', priorities), listeners: [] };
  return createConfiguration(side, old === undefined ? undefined : oldSide, 0);
}

function oneOf(ids: string): (id: string) => boolean {
  const set = new Set(ids.split(','));
  return (id) => set.has(id);
}

function majorityIndex(values: number[]): number {
  const out = { min: 0, majority: 0, max: 0 };
  levelsOf(values, values.length, out);
  return out.majority;
}

test('a majority is more than half of the voters', () => {
  assert.equal(hasMajority(conf('n1,n2,n3,n4'), oneOf('n1,n2')), false);
  assert.equal(hasMajority(conf('n1,n2,n3,n4'), oneOf('n1,n2,n4')), true);
});

test('a joint configuration needs a majority of each side', () => {
  const joint = conf('n3,n4,n5', 'n1,n2,n3');
  assert.equal(hasMajority(joint, oneOf('n3,n4,n5')), false);
  assert.equal(hasMajority(joint, oneOf('n1,n2,n3')), false);
  assert.equal(hasMajority(joint, oneOf('n2,n3,n4')), true);
});

test('listeners and strangers never count (I-14)', () => {
  assert.equal(hasMajority(conf('n1,n2,n3', undefined, 'n4,n5'), oneOf('n1,n4,n5,n9')), false);
});

test('half of an even number of voters rejects (Appendix A)', () => {
  assert.equal(majorityRejects(conf('n1,n2'), oneOf('n1')), true);
  assert.equal(majorityRejects(conf('n1,n2,n3'), oneOf('n1')), false);
  assert.equal(majorityRejects(conf('n1,n2,n3'), oneOf('n1,n2')), true);
  assert.equal(majorityRejects(conf('n1,n2,n3,n4'), oneOf('n1,n2')), true);
  assert.equal(majorityRejects(conf('n1,n2,n3,n4,n5'), oneOf('n1,n2')), false);
});

test('either side of a joint configuration can reject', () => {
  const joint = conf('n3,n4,n5', 'n1,n2,n3');
  assert.equal(majorityRejects(joint, oneOf('n1,n2')), true);
  assert.equal(majorityRejects(joint, oneOf('n4,n5')), true);
  assert.equal(majorityRejects(joint, oneOf('n1,n5')), false);
});

test('single mode is one server, or one that grows to two', () => {
  assert.equal(isSingleMode(conf('n1'), 'n1'), true);
  assert.equal(isSingleMode(conf('n1,n2', 'n1'), 'n1'), true);
  assert.equal(isSingleMode(conf('n1,n2', 'n1'), 'n2'), false);
  assert.equal(isSingleMode(conf('n2,n3', 'n1'), 'n1'), false);
  assert.equal(isSingleMode(conf('n1,n2'), 'n1'), false);
});

test('a singleton has one voter on each side', () => {
  assert.equal(isSingleton(conf('n1')), true);
  assert.equal(isSingleton(conf('n1', 'n1,n2')), false);
  assert.equal(isSingleton(conf('n1,n2', 'n1')), false);
});

test('the majority level of sorted values (Appendix A)', () => {
  assert.equal(majorityIndex([7, -1, 5]), 5);
  assert.equal(majorityIndex([9, 3, 8, 4]), 4);
  assert.equal(majorityIndex([6]), 6);
});

test('levels of two sides combine to the smaller one', () => {
  const into = { min: 3, majority: 9, max: 12 };
  combineLevels(into, { min: 4, majority: 5, max: 10 });
  assert.deepEqual(into, { min: 3, majority: 5, max: 10 });
});

test('no voters have no level', () => {
  assert.equal(levelsOf([], 0, { min: 0, majority: 0, max: 0 }), false);
});

test('voters of both sides are asked once each, and not oneself', () => {
  const joint = conf('n3,n4', 'n1,n2,n3');
  assert.deepEqual(
    allVoters(joint).map((peer) => peer.id),
    ['n3', 'n4', 'n1', 'n2'],
  );
  assert.deepEqual(
    otherVoters(joint, 'n3').map((peer) => peer.id),
    ['n4', 'n1', 'n2'],
  );
});

test('a priority is found on either side, and is 0 for others (P-1)', () => {
  assert.equal(priorityOf(conf('n1', 'n2'), 'n2'), 7);
  assert.equal(priorityOf(conf('n1'), 'n2'), 0);
});
