import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { RaftClient } from '../client/index.js';
import type { Logger } from '../common/logger.js';
import { ConfigurationError } from '../config/errors.js';
import { RaftProperties } from '../config/raft-properties.js';
import type { RaftOptions } from '../config/registry.js';
import { createGroup } from '../protocol/group.js';
import { RaftGroupId } from '../protocol/ids.js';
import { createPeer } from '../protocol/peer.js';
import { MemoryNetwork, MemoryTransport } from '../rpc/memory/index.js';
import { nodeRuntime } from '../runtime/index.js';
import { RaftServer } from '../server/index.js';
import { BaseStateMachine } from '../statemachine/index.js';
import type { StateMachineDataApi } from '../statemachine/types.js';
import { eventually } from './eventually.js';

class Nothing extends BaseStateMachine {
  override applyTransaction(): Uint8Array {
    return new Uint8Array(0);
  }

  override query(): Uint8Array {
    return new Uint8Array(0);
  }

  override takeSnapshot(): Promise<number> {
    return this.saveSnapshot(new Uint8Array(1));
  }

  protected override restore(): void {
    // There is no state.
  }
}

class NothingBeside extends Nothing {
  override get dataApi(): StateMachineDataApi {
    return {
      write: () => Promise.resolve(),
      read: () => Promise.resolve(new Uint8Array(1)),
      flush: () => Promise.resolve(),
      truncate: () => Promise.resolve(),
    };
  }
}

const GROUP = createGroup(RaftGroupId.parse('configuredGroup1'), [
  createPeer({ id: 'n0', address: 'n0:1' }),
]);

function memoryTransport(): MemoryTransport {
  return new MemoryTransport({ runtime: nodeRuntime(), network: new MemoryNetwork() });
}

function createServer(options: RaftOptions, logger?: Logger): RaftServer {
  return RaftServer.create({
    id: 'n0',
    group: GROUP,
    stateMachine: new Nothing(),
    transport: memoryTransport(),
    options,
    ...(logger === undefined ? {} : { logger }),
  });
}

function recorder(): { readonly logger: Logger; readonly warnings: string[] } {
  const warnings: string[] = [];
  const logger: Logger = {
    isEnabled: () => true,
    log: (level, message) => {
      if (level === 'warn') warnings.push(message);
    },
  };
  return { logger, warnings };
}

test('a server warns of unknown keys with the nearest known one', () => {
  const { logger, warnings } = recorder();
  createServer({ 'raft.server.rpc.timout.min': '1s' } as RaftOptions, logger);
  assert.equal(warnings.length, 1);
  assert.match(
    warnings[0] ?? '',
    /unknown key raft\.server\.rpc\.timout\.min; did you mean raft\.server\.rpc\.timeout\.min\?/,
  );
});

test('a client warns of unknown keys, once for all that share a configuration', async () => {
  const { logger, warnings } = recorder();
  const properties = RaftProperties.fromEntries([['raft.client.rpc.request.timeot', '1s']]);
  for (let i = 0; i < 2; i++) {
    await RaftClient.create({ group: GROUP, properties, logger }).close();
  }
  assert.deepEqual(warnings, [
    'unknown key raft.client.rpc.request.timeot; did you mean raft.client.rpc.request.timeout?',
  ]);
});

test('another transport than GRPC must be given by the program', () => {
  const options = { 'raft.rpc.type': 'netty' };
  const refusal = { code: 'KONTIKI_CONFIG_INVALID', key: 'raft.rpc.type', message: /= NETTY: / };
  const create = () =>
    RaftServer.create({ id: 'n0', group: GROUP, stateMachine: new Nothing(), options });
  assert.throws(create, refusal);
  const properties = RaftProperties.from(options);
  assert.throws(() => RaftClient.create({ group: GROUP, properties }), refusal);
  assert.doesNotThrow(() => createServer(options));
});

/** Adds the group, has an entry applied, removes it; the names of its snapshot files. */
async function snapshotsAfterRemoval(options: RaftOptions): Promise<string[]> {
  const directory = await mkdtemp(join(tmpdir(), 'kontiki-configured-'));
  const removed = join(directory, 'removed');
  const server = createServer({
    'raft.server.storage.dir': [join(directory, 'storage')],
    'raft.server.removed.groups.dir': removed,
    'raft.server.snapshot.auto.trigger.enabled': true,
    ...options,
  });
  try {
    await server.start();
    const division = server.getDivision(GROUP.groupId);
    await eventually('an entry is applied', () => division.appliedIndex >= 0);
    await server.removeGroup(GROUP.groupId, { deleteDirectory: false, renameDirectory: true });
    const names = readdirSync(removed, { recursive: true, encoding: 'utf8' });
    return names.filter((name) => /snapshot\.\d+_\d+$/.test(name));
  } finally {
    await server.close();
    await rm(directory, { recursive: true, force: true });
  }
}

test('the removal of a group takes a snapshot, as its own key says', async () => {
  const stop = 'raft.server.snapshot.trigger-when-stop.enabled';
  const remove = 'raft.server.snapshot.trigger-when-remove.enabled';
  assert.equal((await snapshotsAfterRemoval({ [stop]: false })).length, 1);
  assert.deepEqual(await snapshotsAfterRemoval({ [remove]: false }), []);
});

test('a log in memory refuses a state machine that keeps data beside the log', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kontiki-configured-'));
  const server = RaftServer.create({
    id: 'n0',
    group: GROUP,
    stateMachine: new NothingBeside(),
    transport: memoryTransport(),
    options: { 'raft.server.storage.dir': [directory], 'raft.server.log.use.memory': true },
  });
  await assert.rejects(server.start(), ConfigurationError);
  await server.close();
  await rm(directory, { recursive: true, force: true });
});
