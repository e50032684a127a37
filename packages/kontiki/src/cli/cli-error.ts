import { KontikiError, messageOf } from '../common/errors.js';
import { ConfigurationError } from '../config/errors.js';

/** Exit status of the command. */
export const ExitCode = { OK: 0, FAILURE: 1, BAD_ARGUMENT: 2 } as const;
export type ExitCode = (typeof ExitCode)[keyof typeof ExitCode];

/** The command cannot do what it was asked for; the message is the one line that the user sees. */
export class CliError extends KontikiError {
  readonly code = 'KONTIKI_CLI';
  readonly exitCode: ExitCode;

  constructor(
    message: string,
    exitCode: ExitCode = ExitCode.FAILURE,
    options?: { cause?: unknown },
  ) {
    super(message, options);
    this.exitCode = exitCode;
  }
}

/** An argument is not acceptable. */
export function badArgument(message: string, cause?: unknown): CliError {
  return new CliError(message, ExitCode.BAD_ARGUMENT, cause === undefined ? {} : { cause });
}

/** Exit status for anything that was thrown. */
export function exitCodeOf(thrown: unknown): ExitCode {
  if (thrown instanceof CliError) return thrown.exitCode;
  return thrown instanceof ConfigurationError ? ExitCode.BAD_ARGUMENT : ExitCode.FAILURE;
}

/** One line for anything that was thrown. */
export function lineOf(thrown: unknown): string {
  return messageOf(thrown)
    .trim()
    .replace(/\s*\r?\n\s*/g, '; ');
}
