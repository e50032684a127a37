import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LogLevel } from '../common/logger.js';
import { RaftPeerRole } from '../protocol/peer.js';
import { OperatorLog } from './operator-log.js';

const { CANDIDATE, FOLLOWER, LEADER } = RaftPeerRole;

function recorded(): { log: OperatorLog; lines: string[] } {
  const lines: string[] = [];
  const log = new OperatorLog({
    isEnabled: () => true,
    log: (level: LogLevel, message: string) => {
      if (level !== 'debug') lines.push(`${level} ${message}`);
    },
  });
  return { log, lines };
}

test('tells what was found on disk', () => {
  const { log, lines } = recorded();
  log.opened({ term: 0, startIndex: 0, lastIndex: -1, snapshotIndex: -1 });
  log.opened({ term: 7, startIndex: 5, lastIndex: 9, snapshotIndex: 8 });
  assert.deepEqual(lines, [
    'info opened at term 0 with no entries',
    'info opened at term 7 with entries 5 to 9, snapshot at 8',
  ]);
});

test('tells of an election once, until there is a leader', () => {
  const { log, lines } = recorded();
  log.roleChanged(FOLLOWER, 1, undefined);
  for (let i = 0; i < 5; i++) {
    log.roleChanged(CANDIDATE, 1, undefined);
    log.roleChanged(FOLLOWER, 1, undefined);
  }
  log.follows('n1', 2);
  log.roleChanged(CANDIDATE, 2, undefined);
  log.roleChanged(LEADER, 3, undefined);
  log.roleChanged(FOLLOWER, 4, 'HIGHER_TERM');
  assert.deepEqual(lines, [
    'info FOLLOWER at term 1',
    'info CANDIDATE at term 1',
    'info follows n1, the leader of term 2',
    'info CANDIDATE at term 2',
    'info LEADER at term 3',
    'info FOLLOWER at term 4 (HIGHER_TERM)',
  ]);
});

test('tells that a peer fails once, and that it answers again', () => {
  const { log, lines } = recorded();
  log.peerAnswered('n2');
  log.peerFailed('n2', 'connection refused');
  log.peerFailed('n2', 'connection refused');
  log.peerFailed('n3', 'timed out');
  log.peerAnswered('n2');
  log.peerFailed('n2', 'connection refused');
  assert.deepEqual(lines, [
    'warn no answer from n2: connection refused',
    'warn no answer from n3: timed out',
    'info n2 answers again',
    'warn no answer from n2: connection refused',
  ]);
});
