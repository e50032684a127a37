import { type Command, Option } from 'commander';
import {
  COUNTER_GROUP_ID,
  decodeCounterValue,
  getCounter,
  INCREMENT,
} from '../../examples/counter/index.js';
import { addClientOptions, type ClientOptions, withClient } from '../client.js';
import type { ConsoleIo } from '../console-io.js';
import { integerFrom } from '../options.js';

interface IncrementOptions extends ClientOptions {
  readonly count: number;
}

interface GetOptions extends ClientOptions {
  readonly server?: string;
}

/** `kontiki counter increment|get`: the client of the counter example (spec: examples 3). */
export function addCounterCommand(program: Command, io: ConsoleIo): void {
  const counter = program.command('counter').description('talk to the counter example');
  const increment = counter
    .command('increment')
    .description('add to the counter, with ordered asynchronous writes; prints the new value')
    .addOption(
      new Option('-n, --count <number>', 'how many increments')
        .argParser(integerFrom(1))
        .default(1),
    );
  addClientOptions(increment, COUNTER_GROUP_ID, 'of the counter example').action(
    (options: IncrementOptions) => runIncrement(options, io),
  );
  const get = counter
    .command('get')
    .description('print the value, by a linearizable read')
    .option('--server <name>', 'ask this server instead of the leader');
  addClientOptions(get, COUNTER_GROUP_ID, 'of the counter example').action((options: GetOptions) =>
    runGet(options, io),
  );
}

async function runIncrement(options: IncrementOptions, io: ConsoleIo): Promise<void> {
  const value = await withClient(options, io, async (client, alive) => {
    let last = 0;
    const sent = Array.from({ length: options.count }, async () => {
      const reply = await client.async().send(INCREMENT);
      alive();
      last = decodeCounterValue(reply.message);
    });
    await Promise.all(sent);
    return last;
  });
  io.out.write(`${value}\n`);
}

async function runGet(options: GetOptions, io: ConsoleIo): Promise<void> {
  const value = await withClient(options, io, (client) => getCounter(client, options.server));
  io.out.write(`${value}\n`);
}
