import { Command, CommanderError } from 'commander';
import { ExitCode, exitCodeOf, lineOf } from './cli-error.js';
import { addConfigCommand } from './commands/config.js';
import { addCounterCommand } from './commands/counter.js';
import { addDemoCommand } from './commands/demo.js';
import { addFilestoreCommand } from './commands/filestore.js';
import { addServerCommand } from './commands/server.js';
import { addVersionCommand, versionText } from './commands/version.js';
import { type ConsoleIo, processIo } from './console-io.js';

function createProgram(io: ConsoleIo): Command {
  const program = new Command('kontiki');
  program
    .description('Raft consensus for Node.js')
    .version(versionText(), '-V, --version', 'print the version')
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => io.out.write(text),
      // Errors of the parser arrive as exceptions, too: they are printed once, in our form.
      writeErr: (text) => {
        if (!text.startsWith('error:')) io.err.write(text);
      },
    });
  addServerCommand(program, io);
  addDemoCommand(program, io);
  addCounterCommand(program, io);
  addFilestoreCommand(program, io);
  addConfigCommand(program, io);
  addVersionCommand(program, io);
  return program;
}

/** `kontiki server`, from what the user typed. */
function commandPath(program: Command, args: readonly string[]): string {
  let command = program;
  let path = program.name();
  for (const arg of args) {
    const next = command.commands.find((candidate) => candidate.name() === arg);
    if (next === undefined) return path;
    command = next;
    path += ` ${next.name()}`;
  }
  return path;
}

/** Runs one command and gives its exit status. What goes wrong is told in one line on `err`. */
export async function runCli(args: readonly string[], io: ConsoleIo): Promise<number> {
  const program = createProgram(io);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return ExitCode.OK;
  } catch (error) {
    const path = commandPath(program, args);
    if (!(error instanceof CommanderError)) {
      io.err.write(`${path}: ${lineOf(error)}\n`);
      return exitCodeOf(error);
    }
    if (error.exitCode === 0) return ExitCode.OK;
    // Help was asked for by leaving the sub-command out.
    if (error.code !== 'commander.help') {
      io.err.write(`${path}: ${lineOf(error.message.replace(/^error: /, ''))}\n`);
    }
    return ExitCode.BAD_ARGUMENT;
  }
}

/** Entry point of the `kontiki` command. */
export async function main(args: readonly string[]): Promise<void> {
  process.exitCode = await runCli(args, processIo());
}
