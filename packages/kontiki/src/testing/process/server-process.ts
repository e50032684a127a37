import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { messageOf } from '../../common/errors.js';

export interface ServerProcessOptions {
  /** Name of the server, for errors. */
  readonly id: string;
  /** Arguments of the Node binary: the script and what follows. */
  readonly arguments: readonly string[];
  /** Its standard error is appended here. */
  readonly logPath: string;
  /** How long it may take to print its ready line. */
  readonly readyTimeoutMs: number;
}

/** How a process ended. */
export interface ProcessExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const READY = 'ready ';
const LOG_TAIL_BYTES = 2_000;

/** Processes that must not outlive this one, however it ends. */
const running = new Set<ChildProcess>();
let guarded = false;

function guard(child: ChildProcess): void {
  running.add(child);
  child.once('exit', () => running.delete(child));
  if (guarded) return;
  guarded = true;
  process.once('exit', () => {
    for (const one of running) one.kill('SIGKILL');
  });
}

/** One `kontiki server` in a process of its own. */
export class ServerProcess {
  readonly id: string;
  readonly pid: number;
  /** Resolves when the process is gone. */
  readonly exited: Promise<ProcessExit>;
  readonly #child: ChildProcess;
  readonly #logPath: string;
  #exit: ProcessExit | undefined;
  #endWanted = false;

  private constructor(id: string, child: ChildProcess, pid: number, logPath: string) {
    this.id = id;
    this.#logPath = logPath;
    this.pid = pid;
    this.#child = child;
    this.exited = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#exit = { code, signal };
        resolve(this.#exit);
      });
    });
  }

  /**
   * Starts a server and waits for its ready line. Rejects, with the end of its log, when it ends
   * or says nothing in time; then no process is left.
   */
  static async start(options: ServerProcessOptions): Promise<ServerProcess> {
    const log = openSync(options.logPath, 'a');
    const child = spawn(process.execPath, [...options.arguments], {
      stdio: ['ignore', 'pipe', log],
    });
    closeSync(log);
    guard(child);
    await new Promise<void>((resolve, reject) => {
      child.once('spawn', resolve);
      child.once('error', reject);
    });
    const server = new ServerProcess(options.id, child, child.pid ?? -1, options.logPath);
    try {
      await server.#ready(options.readyTimeoutMs);
    } catch (error) {
      await server.kill();
      throw new Error(`${options.id}: ${messageOf(error)}; its log ends with:\n${server.logTail}`);
    }
    return server;
  }

  get isRunning(): boolean {
    return this.#exit === undefined;
  }

  /** It ended by itself. */
  get hasFailed(): boolean {
    return !this.isRunning && !this.#endWanted;
  }

  /** The end of what it logged. */
  get logTail(): string {
    return readFileSync(this.#logPath, 'utf8').slice(-LOG_TAIL_BYTES);
  }

  /** Ends it at once, as a crash would, and waits until it is gone. */
  async kill(): Promise<ProcessExit> {
    if (this.isRunning) {
      this.#endWanted = true;
      this.#child.kill('SIGKILL');
    }
    return this.exited;
  }

  /** Asks it to close. Rejects, after killing it, when it does not end in time or not with 0. */
  async stop(timeoutMs: number): Promise<void> {
    if (this.isRunning) {
      this.#endWanted = true;
      this.#child.kill('SIGTERM');
    }
    const exit = await new Promise<ProcessExit | undefined>((resolve) => {
      const timer = setTimeout(() => resolve(undefined), timeoutMs);
      void this.exited.then((value) => {
        clearTimeout(timer);
        resolve(value);
      });
    });
    if (exit === undefined) {
      await this.kill();
      throw new Error(`${this.id} did not close within ${timeoutMs} ms`);
    }
    if (exit.code !== 0) throw new Error(`${this.id} ended with ${exit.code ?? exit.signal}`);
  }

  #ready(timeoutMs: number): Promise<void> {
    const { stdout } = this.#child;
    if (stdout === null) throw new Error('its output is not connected');
    const lines = createInterface({ input: stdout });
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`not ready within ${timeoutMs} ms`)),
        timeoutMs,
      );
      lines.on('line', (line) => {
        if (!line.startsWith(READY)) return;
        clearTimeout(timer);
        resolve();
      });
      void this.exited.then(({ code, signal }) => {
        clearTimeout(timer);
        reject(new Error(`ended with ${code ?? signal}`));
      });
    });
  }
}
