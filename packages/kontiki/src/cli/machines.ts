import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { messageOf } from '../common/errors.js';
import type { Logger } from '../common/logger.js';
import { COUNTER_GROUP_ID, CounterStateMachine } from '../examples/counter/index.js';
import { FileStoreStateMachine } from '../examples/filestore/index.js';
import { RaftGroupId } from '../protocol/ids.js';
import type { StateMachine } from '../statemachine/types.js';
import { badArgument, CliError } from './cli-error.js';

/** Group id of the file store example, and of machines of one's own (spec: examples 1). */
export const DEMO_GROUP_ID = RaftGroupId.parse('demoRaftGroup123');

/** Makes the state machine of one group. */
export type MachineFactory = (groupId: RaftGroupId, logger: Logger) => Promise<StateMachine>;

const METHODS = ['initialize', 'applyTransaction', 'query', 'takeSnapshot'] as const;

function isStateMachine(value: unknown): value is StateMachine {
  if (typeof value !== 'object' || value === null) return false;
  return METHODS.every((name) => typeof (value as Record<string, unknown>)[name] === 'function');
}

function isClass(value: (...args: never[]) => unknown): boolean {
  const prototype: unknown = value.prototype;
  if (typeof prototype !== 'object' || prototype === null) return false;
  return METHODS.some((name) => name in prototype);
}

/**
 * The machine of a module's default export: a class, a function that makes machines, or one
 * machine.
 */
async function fromExport(exported: unknown, groupId: RaftGroupId): Promise<unknown> {
  if (typeof exported !== 'function') return exported;
  if (isClass(exported as () => unknown)) return new (exported as new () => unknown)();
  return (exported as (groupId: RaftGroupId) => unknown)(groupId);
}

async function importModule(path: string): Promise<unknown> {
  if (!existsSync(path)) throw badArgument(`cannot load --stateMachine ${path}: no such file`);
  try {
    const module: unknown = await import(pathToFileURL(resolve(path)).href);
    return (module as { default?: unknown }).default;
  } catch (error) {
    throw new CliError(`cannot load --stateMachine ${path}: ${messageOf(error)}`, undefined, {
      cause: error,
    });
  }
}

function ofModule(path: string): MachineFactory {
  let instance: unknown;
  return async (groupId) => {
    const machine = await fromExport(await importModule(path), groupId);
    if (!isStateMachine(machine)) {
      throw badArgument(
        `the default export of --stateMachine ${path} is no state machine, ` +
          'nor a class or function that makes one',
      );
    }
    if (machine === instance) {
      throw badArgument(`--stateMachine ${path} gives one machine, which cannot serve two groups`);
    }
    instance = machine;
    return machine;
  };
}

/** The factory of `counter`, `filestore`, or a module's path. */
export function machineFactory(name: string): MachineFactory {
  if (name === 'counter') return async (_groupId, logger) => new CounterStateMachine({ logger });
  if (name === 'filestore') {
    return async (_groupId, logger) => new FileStoreStateMachine({ logger });
  }
  return ofModule(name);
}

/** The group that a machine serves when none is given. */
export function defaultGroupId(name: string): RaftGroupId {
  return name === 'counter' ? COUNTER_GROUP_ID : DEMO_GROUP_ID;
}

/**
 * Pairs groups with machines in the order in which they were given. Throws CliError when they do
 * not pair up.
 */
export function pairGroups(
  groupIds: readonly RaftGroupId[],
  machines: readonly string[],
): { readonly groupId: RaftGroupId; readonly machine: string }[] {
  if (groupIds.length === 0 && machines.length === 1) {
    return machines.map((machine) => ({ groupId: defaultGroupId(machine), machine }));
  }
  if (groupIds.length !== machines.length) {
    throw badArgument(
      '--raftGroup and --stateMachine must be given in pairs, ' +
        `but there are ${groupIds.length} and ${machines.length}`,
    );
  }
  const seen = new Set<string>();
  for (const { uuid } of groupIds) {
    if (seen.has(uuid)) throw badArgument(`--raftGroup ${uuid} is given twice`);
    seen.add(uuid);
  }
  return machines.map((machine, i) => ({ groupId: groupIds[i] ?? DEMO_GROUP_ID, machine }));
}
