import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clampCommit,
  FollowerRecord,
  heartbeatWaitMs,
  nextAfterError,
  nextAfterInconsistency,
  retryPauseMs,
} from './progress.js';
import { FixedRandom, TEST_CONFIG } from './scenario/config.test-support.js';

function record(nextIndex: number): FollowerRecord {
  return new FollowerRecord({
    peerId: 'n2',
    address: 'n2:1',
    epoch: 1,
    nextIndex,
    matchIndex: -1,
    caughtUp: true,
    longAgoMs: 0,
  });
}

test('the next index after INCONSISTENCY (3.8.1, Appendix A)', () => {
  const cases: [number, number, number, number][] = [
    [10, 7, -1, 7],
    [5, 5, -1, 4],
    [1, 0, -1, 0],
    [0, 1, -1, 1],
    [8, 3, 6, 7],
    [7, 3, 6, 3],
  ];
  for (const [from, reply, match, next] of cases) {
    assert.equal(nextAfterInconsistency(from, reply, match), next, `${from} ${reply} ${match}`);
  }
});

test('the next index after an error (3.8.2, Appendix A)', () => {
  assert.equal(nextAfterError(10, 5, 2), 5);
  assert.equal(nextAfterError(10, 5, 7), 8);
  assert.equal(nextAfterError(0, 0, -1), 0);
});

test('H-2: a request without a previous entry proves one less (3.6, Appendix A)', () => {
  assert.equal(clampCommit(1000, 5, 3), 8);
  assert.equal(clampCommit(1000, undefined, 0), -1);
  assert.equal(clampCommit(1000, undefined, 2), 1);
  assert.equal(clampCommit(4, 5, 3), 4);
});

test('heartbeats are paced by the last response and the last heartbeat (3.3, Appendix A)', () => {
  assert.equal(heartbeatWaitMs(150, 10, 100), 65);
  assert.equal(heartbeatWaitMs(150, 80, 20), 17);
  assert.ok(heartbeatWaitMs(150, 80, 40) <= 0);
});

test('H-19: pauses grow with the errors, and the last one stays (Appendix A)', () => {
  const random = new FixedRandom();
  random.point = 0.5;
  const pause = (errors: number): number =>
    Math.round(retryPauseMs(TEST_CONFIG.appenderRetryPauses, errors, random));
  assert.deepEqual(
    [1, 10, 11, 30, 31, 1030, 1031].map(pause),
    [1, 1, 1000, 1000, 5000, 5000, 5000],
  );
});

test('a pause varies between half and one and a half', () => {
  const random = new FixedRandom();
  assert.equal(retryPauseMs([[1000, 1]], 1, random), 500);
  random.point = 1;
  assert.ok(retryPauseMs([[1000, 1]], 1, random) > 1499);
});

test('what is not acknowledged is sent again after the stream broke, and nothing before it', () => {
  const follower = record(5);
  follower.sent(5, 3);
  follower.sent(8, 2);
  follower.matched(6);
  assert.equal(follower.nextIndex, 10);
  follower.rewind();
  assert.equal(follower.nextIndex, 7);
});

test('RATIS-1835: a broken stream without data moves nothing back', () => {
  const follower = record(5);
  follower.rewind();
  assert.equal(follower.nextIndex, 5);
});

test('late acknowledgements may be ahead of a next index that was moved back (RATIS-1895)', () => {
  const follower = record(5);
  follower.sent(5, 3);
  follower.resumeAt(5);
  follower.matched(7);
  assert.equal(follower.nextIndex, 8);
});

test('requests expire in the order in which they were sent', () => {
  const follower = record(0);
  const request = (callId: number, sentMs: number) => ({
    callId,
    sentMs,
    from: 0,
    readSequence: 0,
  });
  follower.pendingData.push(request(0, 10), request(1, 20));
  follower.pendingHeartbeats.push(request(2, 30));
  assert.equal(follower.expirePending(5), false);
  assert.equal(follower.expirePending(20), true);
  assert.equal(follower.pendingData.length, 0);
  assert.equal(follower.takePending(2, true)?.sentMs, 30);
  assert.equal(follower.takePending(2, true), undefined);
});
