import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { PeerCallError, type PeerError } from './peer-error.js';

/** The Maven project of the Java peer. */
export const JAVA_PROJECT = fileURLToPath(new URL('../java', import.meta.url));

const READY_TIMEOUT_MS = 60_000;
const ERROR_OUTPUT_KEPT = 20_000;

/** Arguments of a command; undefined ones are left out. */
export type PeerArguments = Readonly<Record<string, string | number | undefined>>;

interface Answer {
  readonly ready?: boolean;
  readonly number?: number;
  readonly result?: unknown;
  readonly error?: PeerError;
}

interface Waiting {
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: Error) => void;
}

/**
 * A process that hosts servers and clients and does what it is told. It ends when its standard
 * input does, so it never outlives the test.
 */
export class PeerProcess {
  readonly #process: ChildProcessWithoutNullStreams;
  readonly #waiting = new Map<number, Waiting>();
  readonly #exited: Promise<void>;
  #ready: () => void = () => undefined;
  #lastNumber = 0;
  #errorOutput = '';
  #ended = false;

  private constructor(command: string, args: readonly string[]) {
    this.#process = spawn(command, args);
    this.#exited = new Promise((resolve) => {
      this.#process.once('close', () => {
        this.#onEnd('the peer ended');
        resolve();
      });
    });
    this.#process.once('error', (error) => this.#onEnd(error.message));
    this.#process.stdin.on('error', () => undefined);
    this.#process.stderr.on('data', (chunk: Buffer) => {
      if (process.env['KONTIKI_INTEROP_LOG'] !== undefined) process.stderr.write(chunk);
      this.#errorOutput = (this.#errorOutput + chunk.toString()).slice(-ERROR_OUTPUT_KEPT);
    });
    createInterface({ input: this.#process.stdout }).on('line', (line) => this.#onLine(line));
  }

  /** Starts a Java peer; rejects when it does not come up. */
  static startJava(): Promise<PeerProcess> {
    const dependencies = readFileSync(join(JAVA_PROJECT, 'target', 'classpath.txt'), 'utf8').trim();
    const classpath = [join(JAVA_PROJECT, 'target', 'classes'), dependencies].join(delimiter);
    const logLevel = process.env['KONTIKI_INTEROP_LOG'] ?? 'error';
    return PeerProcess.#start('java', [
      '-Xmx512m',
      '-XX:+UseSerialGC',
      '-XX:TieredStopAtLevel=1',
      `-Dorg.slf4j.simpleLogger.defaultLogLevel=${logLevel}`,
      '-Dorg.slf4j.simpleLogger.showDateTime=true',
      '-Dorg.slf4j.simpleLogger.dateTimeFormat=HH:mm:ss.SSS',
      '-cp',
      classpath,
      'kontiki.interop.Peer',
    ]);
  }

  /** Starts a Kontiki server's process, which understands the same commands. */
  static startKontiki(): Promise<PeerProcess> {
    const script = fileURLToPath(new URL('./kontiki-peer.js', import.meta.url));
    return PeerProcess.#start(process.execPath, ['--enable-source-maps', script]);
  }

  static async #start(command: string, args: readonly string[]): Promise<PeerProcess> {
    const peer = new PeerProcess(command, args);
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new Error(`the peer is not ready: ${peer.#errorOutput}`)),
        READY_TIMEOUT_MS,
      );
      peer.#ready = () => {
        clearTimeout(timer);
        resolve();
      };
      void peer.#exited.then(() => {
        clearTimeout(timer);
        reject(new Error(`the peer did not start: ${peer.#errorOutput}`));
      });
    });
    return peer;
  }

  /** Sends a command. Rejects with PeerCallError when it fails there. */
  command(name: string, args: PeerArguments): Promise<unknown> {
    if (this.#ended) return Promise.reject(this.#gone('the peer has ended'));
    const number = ++this.#lastNumber;
    const fields = Object.entries(args)
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => `${key}=${encodeURIComponent(String(value))}`);
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject });
      this.#process.stdin.write(`${[number, name, ...fields].join('\t')}\n`);
    });
  }

  /** As a crash would: SIGKILL. */
  async kill(): Promise<void> {
    this.#process.kill('SIGKILL');
    await this.#exited;
  }

  /** Closes clients and servers in order, then ends. */
  async close(): Promise<void> {
    this.#process.stdin.end();
    await this.#exited;
  }

  #onLine(line: string): void {
    const answer = JSON.parse(line) as Answer;
    if (answer.ready === true) {
      this.#ready();
      return;
    }
    const waiting = this.#waiting.get(answer.number ?? -1);
    this.#waiting.delete(answer.number ?? -1);
    if (answer.error !== undefined) waiting?.reject(new PeerCallError(answer.error));
    else waiting?.resolve(answer.result);
  }

  #onEnd(reason: string): void {
    this.#ended = true;
    for (const { reject } of this.#waiting.values()) reject(this.#gone(reason));
    this.#waiting.clear();
  }

  #gone(reason: string): Error {
    return new Error(`${reason}: ${this.#errorOutput}`);
  }
}
