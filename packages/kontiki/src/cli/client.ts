import { type Command, Option } from 'commander';
import { RaftClient } from '../client/index.js';
import { createGroup } from '../protocol/group.js';
import type { RaftGroupId } from '../protocol/ids.js';
import { RETRY_FOREVER_NO_SLEEP } from '../protocol/retry/simple-policies.js';
import { CliError, lineOf } from './cli-error.js';
import { loadConfiguration } from './configuration.js';
import type { ConsoleIo } from './console-io.js';
import { createDeferred } from './deferred.js';
import {
  addCommonOptions,
  type CommonOptions,
  integerFrom,
  loggerOf,
  parseGroupId,
  tlsOf,
} from './options.js';

/** A word on why nothing is answered comes after so long, or after half of the time-out. */
const HINT_MS = 3_000;

/** Options of every command that is a client. */
export interface ClientOptions extends CommonOptions {
  readonly raftGroup: RaftGroupId;
  readonly timeout: number;
}

/** Adds the options that every client command takes. */
export function addClientOptions(command: Command, groupId: RaftGroupId, text: string): Command {
  command
    .addOption(
      new Option('-g, --raftGroup <id>', 'group id, a UUID or 16 characters')
        .argParser(parseGroupId)
        .default(groupId, text),
    )
    .addOption(
      new Option('--timeout <seconds>', 'gives up when the servers do not answer for so long')
        .argParser(integerFrom(1))
        .default(30),
    );
  return addCommonOptions(command, 'error');
}

/**
 * Runs `work` with a client and closes it. `work` calls `alive` when something was answered; when
 * nothing was for the time that the user gave, everything is given up with a CliError that says
 * what happened last.
 */
export async function withClient<T>(
  options: ClientOptions,
  io: ConsoleIo,
  work: (client: RaftClient, alive: () => void) => Promise<T>,
): Promise<T> {
  let lastFailure = '';
  const logger = loggerOf(options, io);
  const properties = loadConfiguration(options, {}, io, logger);
  const tls = tlsOf(options);
  const client = RaftClient.create({
    group: createGroup(options.raftGroup, options.peers),
    properties,
    logger,
    retryPolicy: {
      handle: (event) => {
        lastFailure = event.cause === undefined ? lastFailure : lineOf(event.cause);
        return RETRY_FOREVER_NO_SLEEP.handle(event);
      },
      toString: () => RETRY_FOREVER_NO_SLEEP.toString(),
    },
    ...(tls === undefined ? {} : { tls: { default: tls } }),
  });
  const silence = createDeferred<never>();
  const giveUp = () => {
    // A TLS port hangs up on plain text without a word.
    const isMute = tls === undefined && /does not speak HTTP\/2/.test(lastFailure);
    const advice = isMute ? '; if it is a TLS port, --tls-ca is missing' : '';
    const reason = lastFailure === '' ? '' : `: ${lastFailure}${advice}`;
    silence.reject(new CliError(`no answer within ${options.timeout} s${reason}`));
  };
  // Who mistyped a port should not have to wait for the end to hear of it.
  const hint = setTimeout(
    () => {
      const reason = lastFailure === '' ? '' : `: ${lastFailure}`;
      io.err.write(`no answer yet, trying for ${options.timeout} s${reason}\n`);
    },
    Math.min(HINT_MS, options.timeout * 500),
  );
  let timer = setTimeout(giveUp, options.timeout * 1000);
  const alive = () => {
    clearTimeout(hint);
    clearTimeout(timer);
    timer = setTimeout(giveUp, options.timeout * 1000);
  };
  const result = work(client, alive);
  // When it is given up, what is outstanding fails as the client closes.
  result.catch(() => undefined);
  try {
    return await Promise.race([result, silence.promise]);
  } finally {
    clearTimeout(hint);
    clearTimeout(timer);
    await client.close();
  }
}
