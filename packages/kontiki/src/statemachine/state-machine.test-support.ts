import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { createStateMachineEntry, stateMachineBodyOf } from '../proto/wire/index.js';
import type { LogEntry } from '../proto/wire/types.js';
import { RaftGroupId } from '../protocol/ids.js';
import { RaftPeerRole } from '../protocol/peer.js';
import type { RaftStorage } from '../storage/types.js';
import type { StateMachineServer, TransactionContext } from './types.js';

export const TEST_SERVER: StateMachineServer = {
  id: 'n0',
  groupId: RaftGroupId.parse('demoRaftGroup123'),
};

/** A folder that goes when the test is over. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kontiki-machine-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** As much of a storage root as state machines use. */
export function storageAt(rootDirectory: string): RaftStorage {
  return {
    rootDirectory,
    currentDirectory: join(rootDirectory, 'current'),
    stateMachineDirectory: rootDirectory,
    temporaryDirectory: join(rootDirectory, 'tmp'),
    metadata: { term: 1, votedFor: undefined },
    persistMetadata: () => Promise.resolve(),
    readConfiguration: () => Promise.resolve(undefined),
    persistConfiguration: () => Promise.resolve(),
    isHealthy: () => Promise.resolve(true),
    close: () => Promise.resolve(),
  };
}

/** A transaction that a leader starts for a client's message. */
export function startedWith(message: Uint8Array): TransactionContext {
  return {
    serverRole: RaftPeerRole.LEADER,
    clientRequest: undefined,
    logData: message,
    stateMachineData: undefined,
    exception: undefined,
    logEntry: undefined,
    body: undefined,
    stateMachineContext: undefined,
  };
}

/** The entry of a message at an index of term 1. */
export function entryAt(index: number, logData: Uint8Array, data?: Uint8Array): LogEntry {
  return createStateMachineEntry({
    term: 1,
    index,
    logData,
    data,
    type: 0,
    clientId: new Uint8Array(16),
    callId: index,
  });
}

/** The transaction of an entry, as any server but its leader sees it. */
export function transactionOf(entry: LogEntry): TransactionContext {
  const body = stateMachineBodyOf(entry);
  return {
    ...startedWith(body.logData),
    serverRole: RaftPeerRole.FOLLOWER,
    stateMachineData: entry.data,
    logEntry: entry,
    body,
  };
}
