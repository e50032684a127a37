import type { Logger } from '../common/logger.js';
import type { Runtime } from '../common/runtime.js';
import { ConfigurationError } from '../config/errors.js';
import { createEngine } from '../core/index.js';
import type { EngineState, RaftEngine } from '../core/types.js';
import { EntryKind } from '../proto/wire/types.js';
import { initialConfiguration, type RaftConfiguration } from '../protocol/configuration.js';
import type { RaftGroup } from '../protocol/group.js';
import type { RaftPeerId } from '../protocol/ids.js';
import { INVALID_INDEX } from '../protocol/term-index.js';
import type { VirtualFileSystem } from '../runtime/index.js';
import type { StateMachine } from '../statemachine/types.js';
import { type OpenLogOptions, openLog, openMemoryLog, openStorage } from '../storage/index.js';
import type {
  OpenedLog,
  RaftLog,
  RaftLogListener,
  RaftStorage,
  StartupOption,
} from '../storage/types.js';
import { DataStore } from './data-store.js';
import type { ServerConfig } from './server-config.js';

/** What a division is opened with. */
export interface DivisionOpenOptions {
  readonly selfId: RaftPeerId;
  /** Peers to start with; none for a group found on disk (spec: M-2). */
  readonly group: RaftGroup;
  readonly startupOption: StartupOption;
  readonly stateMachine: StateMachine;
  readonly config: ServerConfig;
  readonly fileSystem: VirtualFileSystem;
  readonly runtime: Runtime;
  readonly logger: Logger;
  readonly logListener: RaftLogListener;
}

/** A division's parts on disk, and the engine made from them. */
export interface OpenedDivision {
  readonly storage: RaftStorage;
  readonly log: RaftLog;
  readonly engine: RaftEngine;
  readonly dataStore: DataStore | undefined;
  readonly snapshotIndex: number;
}

/**
 * Opens storage, state machine and log in the order of the specification (spec: storage 9).
 * Whatever fails, what was opened is closed again.
 */
export async function openDivision(options: DivisionOpenOptions): Promise<OpenedDivision> {
  const { config, fileSystem, runtime, logger, group, stateMachine } = options;
  const storage = await openStorage({
    volumes: config.storageDirs,
    groupUuid: group.groupId.uuid,
    startupOption: options.startupOption,
    freeSpaceMinBytes: config.freeSpaceMinBytes,
    fs: fileSystem,
    runtime,
    logger,
  });
  let log: RaftLog | undefined;
  try {
    const fromFile = await storage.readConfiguration();
    await stateMachine.initialize({ id: options.selfId, groupId: group.groupId }, storage);
    const snapshot = stateMachine.getLatestSnapshot()?.termIndex;
    const api = stateMachine.dataApi;
    const dataStore = api === undefined ? undefined : new DataStore(api);
    const opened = await openLogOf(options, {
      storage,
      dataStore,
      snapshotIndex: snapshot?.index ?? INVALID_INDEX,
    });
    log = opened.log;
    const configurations = configurationsOf(group, fromFile, opened);
    const state = engineState(storage, opened, snapshot, configurations);
    const engine = createEngine({
      selfId: options.selfId,
      config: config.engine,
      state,
      random: runtime.random,
      nowMs: runtime.clock.nowMs(),
    });
    return { storage, log, engine, dataStore, snapshotIndex: snapshot?.index ?? INVALID_INDEX };
  } catch (error) {
    await log?.close();
    await storage.close();
    throw error;
  }
}

/**
 * The log on disk, or in memory (spec: storage 12). Throws ConfigurationError when the state
 * machine keeps data beside a log in memory, which would never be written.
 */
async function openLogOf(
  options: DivisionOpenOptions,
  found: Pick<OpenLogOptions, 'storage' | 'dataStore' | 'snapshotIndex'>,
): Promise<OpenedLog> {
  const { config, fileSystem, logListener, logger, runtime } = options;
  if (!config.useMemoryLog) {
    const { log } = config;
    return openLog({
      ...found,
      config: log,
      listener: logListener,
      fs: fileSystem,
      runtime,
      logger,
    });
  }
  if (found.dataStore !== undefined) {
    const key = 'raft.server.log.use.memory';
    const text = `${key} = true: the state machine of ${options.group.groupId} keeps data beside`;
    throw new ConfigurationError(key, `${text} the log, which needs one on disk`);
  }
  const { snapshotIndex } = found;
  return openMemoryLog({ listener: logListener, runtime, snapshotIndex });
}

function engineState(
  storage: RaftStorage,
  opened: OpenedLog,
  snapshot: EngineState['snapshot'],
  configurations: readonly RaftConfiguration[],
): EngineState {
  const { log, lastMetadataCommitIndex } = opened;
  return {
    term: storage.metadata.term,
    votedFor: storage.metadata.votedFor,
    startIndex: log.startIndex,
    lastIndex: log.lastIndex,
    termRuns: opened.termRuns,
    snapshot,
    commitIndex: Math.max(snapshot?.index ?? INVALID_INDEX, lastMetadataCommitIndex),
    lastMetadataCommitIndex,
    configurations,
    kindAt: (index) => log.kindAt(index) ?? EntryKind.NONE,
  };
}

/** The group's own, then the file's, then the log's, by ascending index (spec: C-4). */
function configurationsOf(
  group: RaftGroup,
  fromFile: RaftConfiguration | undefined,
  opened: OpenedLog,
): RaftConfiguration[] {
  const found: RaftConfiguration[] = [];
  if (group.peers.length > 0) found.push(initialConfiguration(group.peers));
  const known =
    fromFile === undefined ? opened.configurations : [fromFile, ...opened.configurations];
  for (const configuration of known) {
    const last = found.at(-1);
    if (last !== undefined && configuration.index === last.index) found.pop();
    else if (last !== undefined && configuration.index < last.index) continue;
    found.push(configuration);
  }
  return found;
}
