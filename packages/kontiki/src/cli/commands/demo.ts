import type { Command } from 'commander';
import type { ConsoleIo } from '../console-io.js';
import { runDemo } from '../demo/demo.js';

/** `kontiki demo`. */
export function addDemoCommand(program: Command, io: ConsoleIo): void {
  program
    .command('demo')
    .description(
      'run three servers with mutual TLS, write through a client, kill the leader, ' +
        'and check that nothing is lost',
    )
    .option('--keep', 'leave the servers running, and print how to talk to them')
    .action((options: { readonly keep?: boolean }) => runDemo({ keep: options.keep ?? false }, io));
}
