import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { CliError } from '../cli-error.js';

const COMMAND = fileURLToPath(new URL('../run.js', import.meta.url));
const LOG_TAIL_LINES = 5;

export interface ServerProcessOptions {
  readonly id: string;
  /** Arguments of `kontiki server`. */
  readonly args: readonly string[];
  /** Where its log goes. */
  readonly logFile: string;
  /** It goes on when this process ends. */
  readonly detached: boolean;
}

/** One `kontiki server` in a process of its own. */
export class ServerProcess {
  readonly id: string;
  readonly #options: ServerProcessOptions;
  #child: ChildProcess | undefined;
  /** Its end is our doing. */
  #isStopping = false;
  /** Told when the process ends by itself. */
  onUnexpectedExit: (error: Error) => void = () => undefined;

  constructor(options: ServerProcessOptions) {
    this.id = options.id;
    this.#options = options;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined && !this.#isStopping;
  }

  /**
   * Starts the process; resolves once it accepts requests. Rejects with a CliError that quotes its
   * log.
   */
  async start(): Promise<void> {
    const { args, logFile, detached } = this.#options;
    const log = openSync(logFile, 'a');
    const child = spawn(process.execPath, [COMMAND, 'server', ...args], {
      stdio: ['ignore', 'pipe', log],
      detached,
    });
    closeSync(log);
    this.#child = child;
    this.#isStopping = false;
    const exited = once(child, 'exit').then(async ([code, signal]) => {
      if (this.#child === child) this.#child = undefined;
      if (this.#isStopping) return;
      const error = new CliError(
        `server ${this.id} ended with ${signal ?? code}: ${await this.#logTail()}`,
      );
      this.onUnexpectedExit(error);
      throw error;
    });
    exited.catch(() => undefined);
    const ready = isReady(child);
    if (!(await Promise.race([ready, exited.then(() => false)]))) {
      throw new CliError(`server ${this.id} did not start: ${await this.#logTail()}`);
    }
  }

  /** Kills the process, which has no time to do anything about it; resolves when it is gone. */
  async kill(): Promise<void> {
    await this.#end('SIGKILL');
  }

  /** Asks the process to end; its exit status. */
  async stop(): Promise<number> {
    return this.#end('SIGTERM');
  }

  /** Lets this process end while the server goes on. */
  release(): void {
    this.#child?.stdout?.destroy();
    this.#child?.unref();
  }

  async #end(signal: NodeJS.Signals): Promise<number> {
    const child = this.#child;
    if (child === undefined) return 0;
    this.#isStopping = true;
    const exited = once(child, 'exit');
    child.kill(signal);
    const [code] = await exited;
    return typeof code === 'number' ? code : -1;
  }

  async #logTail(): Promise<string> {
    const text = await readFile(this.#options.logFile, 'utf8');
    return text.trim().split('\n').slice(-LOG_TAIL_LINES).join(' | ');
  }
}

async function isReady(child: ChildProcess): Promise<boolean> {
  if (child.stdout === null) return false;
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('ready ')) return true;
  }
  return false;
}
