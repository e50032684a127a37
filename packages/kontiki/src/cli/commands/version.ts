import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { ConsoleIo } from '../console-io.js';

/** Version of this package. */
export function versionText(): string {
  const file = new URL('../../../package.json', import.meta.url);
  const { version } = JSON.parse(readFileSync(file, 'utf8')) as { version: string };
  return version;
}

/** `kontiki version`. */
export function addVersionCommand(program: Command, io: ConsoleIo): void {
  program
    .command('version')
    .description('print the versions of kontiki and Node.js')
    .action(() => {
      io.out.write(`kontiki ${versionText()}, Node.js ${process.version}\n`);
    });
}
