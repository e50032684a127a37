import { type Command, Option } from 'commander';
import type { Logger } from '../../common/logger.js';
import type { RaftProperties } from '../../config/raft-properties.js';
import { createGroup, type RaftGroup } from '../../protocol/group.js';
import type { RaftGroupId } from '../../protocol/ids.js';
import { keepHeapHeadroom } from '../../runtime/heap-headroom.js';
import { RaftServer } from '../../server/index.js';
import type { StateMachine } from '../../statemachine/types.js';
import { badArgument, CliError } from '../cli-error.js';
import { loadConfiguration } from '../configuration.js';
import type { ConsoleIo } from '../console-io.js';
import { createDeferred } from '../deferred.js';
import { machineFactory, pairGroups } from '../machines.js';
import {
  addCommonOptions,
  type CommonOptions,
  collect,
  loggerOf,
  parseGroupId,
  tlsOf,
} from '../options.js';

interface ServerCommandOptions extends CommonOptions {
  readonly id: string;
  readonly raftGroup: readonly RaftGroupId[];
  readonly storage: readonly string[];
  readonly stateMachine: readonly string[];
}

const FAILURE_CHECK_MS = 500;

/** `kontiki server`: one server process (spec: examples 1). */
export function addServerCommand(program: Command, io: ConsoleIo): void {
  const command = program
    .command('server')
    .description('run a server; it formats an empty storage directory and recovers a filled one')
    .requiredOption('-i, --id <name>', 'which of the peers this server is')
    .addOption(
      new Option(
        '-g, --raftGroup <id>',
        'group id, a UUID or 16 characters; repeatable, in pairs with --stateMachine',
      )
        .argParser(collect(parseGroupId))
        .default([], "the example's own, or demoRaftGroup123 for a module"),
    )
    .addOption(
      new Option('-s, --storage <dir>', 'storage directory; repeatable for several volumes')
        .argParser(collect((text) => text))
        .makeOptionMandatory(),
    )
    .addOption(
      new Option(
        '-m, --stateMachine <name>',
        'counter, filestore, or the path of a module whose default export is a state machine, ' +
          'its class, or a function that makes it',
      )
        .argParser(collect((text) => text))
        .makeOptionMandatory(),
    );
  addCommonOptions(command, 'info').action((options: ServerCommandOptions) =>
    runServer(options, io),
  );
}

async function makeServer(
  options: ServerCommandOptions,
  properties: RaftProperties,
  logger: Logger,
): Promise<RaftServer> {
  const machines = new Map<string, StateMachine>();
  const groups: RaftGroup[] = [];
  for (const { groupId, machine } of pairGroups(options.raftGroup, options.stateMachine)) {
    machines.set(groupId.uuid, await machineFactory(machine)(groupId, logger));
    groups.push(createGroup(groupId, options.peers));
  }
  const tls = tlsOf(options);
  return RaftServer.create({
    id: options.id,
    groups,
    stateMachineRegistry: (groupId) => machines.get(groupId.uuid),
    properties,
    logger,
    ...(tls === undefined ? {} : { tls: { default: tls } }),
  });
}

async function runServer(options: ServerCommandOptions, io: ConsoleIo): Promise<void> {
  const peer = options.peers.find(({ id }) => id === options.id);
  if (peer === undefined) {
    const names = options.peers.map(({ id }) => id).join(', ');
    throw badArgument(`--id ${options.id} is none of the peers ${names}`);
  }
  const logger = loggerOf(options, io);
  const own = { 'raft.server.storage.dir': options.storage.join(',') };
  const properties = loadConfiguration(options, own, io, logger);
  const server = await makeServer(options, properties, logger);
  const stopped = untilStopped(server);
  let release: (() => void) | undefined;
  try {
    await server.start();
    release = keepHeapHeadroom();
    const { host, port } = server.address;
    const groups = server.groupIds.map(({ uuid }) => uuid).join(',');
    const address = host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
    io.out.write(`ready ${options.id} ${address} ${groups}\n`);
    await stopped.promise;
  } finally {
    await server.close();
    release?.();
    stopped.forget();
  }
}

/**
 * Settles when the process is told to stop, and rejects when no group is served any more because
 * all failed. A second signal ends the process at once.
 */
function untilStopped(server: RaftServer): { promise: Promise<void>; forget: () => void } {
  const { promise, resolve, reject } = createDeferred();
  let isStopping = false;
  const onSignal = (signal: NodeJS.Signals) => {
    if (isStopping) process.exit(signal === 'SIGINT' ? 130 : 143);
    isStopping = true;
    resolve();
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  // Keeps the process up: a server that closed itself leaves nothing else that does.
  const check = setInterval(() => {
    if (server.isClosed && !isStopping) {
      reject(new CliError('the server closed itself; the log says why'));
      return;
    }
    const failures = server.groupIds.map((id) => server.findDivision(id)?.failure);
    const first = failures[0];
    if (first === undefined || failures.includes(undefined)) return;
    reject(new CliError(`all groups failed: ${first.message}`, undefined, { cause: first }));
  }, FAILURE_CHECK_MS);
  const forget = () => {
    clearInterval(check);
    process.off('SIGTERM', onSignal);
    process.off('SIGINT', onSignal);
  };
  return { promise, forget };
}
