import { randomBytes } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { RaftClient } from '../../client/index.js';
import {
  type FileSource,
  FileStoreClient,
  memorySource,
  randomSource,
  uploadFile,
  type WrittenFile,
} from '../../examples/filestore/index.js';
import { CliError } from '../cli-error.js';
import { createDeferred } from '../deferred.js';
import { createArchive, readTree } from './archive.js';
import { checkCounters, checkFiles, untilAgreed } from './check.js';
import type { Cluster } from './cluster.js';
import { CounterLoad } from './counter-load.js';
import { bar, type Display } from './display.js';
import { Recovery } from './recovery.js';
import type { ServerProcess } from './server-process.js';

const PACKAGE_ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const LARGE_FILE_BYTES = 64 * 1024 * 1024;
const PIECE_BYTES = 1024 * 1024;
const FILE_REQUESTS = 8;
const COUNTER_REQUESTS = 16;
/** When the leader is killed, as a part of all bytes. */
const KILL_AT = 0.4;
/** How long the cluster goes on with two servers at least. */
const DOWN_TIME_MS = 1_500;
const BAR_COLUMNS = 8;

function megabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(0);
}

/** What the demonstration does, from the first server to the summary. */
export class Story {
  readonly #cluster: Cluster;
  readonly #counterClient: RaftClient;
  readonly #filesClient: RaftClient;
  readonly #counter: CounterLoad;
  readonly #fileRecovery = new Recovery();
  readonly #counterRecovery = new Recovery();
  readonly #halfway = createDeferred();
  #totalBytes = 0;
  #writtenBytes = 0;
  #fileWrites = 0;
  #isWriting = false;
  #ledBoth = false;
  #isAbandoned = false;

  constructor(cluster: Cluster, counterClient: RaftClient, filesClient: RaftClient) {
    this.#cluster = cluster;
    this.#counterClient = counterClient;
    this.#filesClient = filesClient;
    this.#counter = new CounterLoad(counterClient, COUNTER_REQUESTS);
    this.#counter.onAcknowledged = (serverId) => this.#counterRecovery.acknowledged(serverId);
  }

  /** One line on how far it is; empty while nothing is written. */
  status(): string {
    if (!this.#isWriting) return '';
    const servers = this.#cluster.servers
      .map((server) => `${server.id}${server.isRunning ? ' up' : ' DOWN'}`)
      .join('  ');
    const fraction = this.#totalBytes === 0 ? 0 : this.#writtenBytes / this.#totalBytes;
    return (
      `${servers}   files [${bar(fraction, BAR_COLUMNS)}] ${megabytes(this.#writtenBytes)} of ` +
      `${megabytes(this.#totalBytes)} MB   counter ${this.#counter.acknowledged}`
    );
  }

  /** Starts no process any more. */
  abandon(): void {
    this.#isAbandoned = true;
  }

  async tell(display: Display): Promise<void> {
    const { servers } = this.#cluster;
    await Promise.all(servers.map((server) => server.start()));
    display.step('three servers are ready, with mutual TLS, each in two groups');
    const sources = await this.#sources();
    const startedMs = performance.now();
    this.#isWriting = true;
    this.#counter.start();
    const upload = this.#upload(sources);
    upload.catch(() => undefined);
    const victim = await this.#killLeader(upload, display);
    const files = await this.#finishUpload(upload, victim, display);
    const elapsedMs = performance.now() - startedMs;
    await this.#counter.stop();
    this.#isWriting = false;
    display.step(`all writes are acknowledged; waiting for ${victim.id} to catch up`);
    const agreedMs = await this.#agree(display);
    await this.#check(files, display);
    this.#summarize(display, elapsedMs, agreedMs, victim.id);
  }

  async #sources(): Promise<FileSource[]> {
    const wanted = /^(bin|dist|src)\/|^[^/]+\.(md|json)$|^LICENSE$/;
    const tree = await readTree(PACKAGE_ROOT, (name) => wanted.test(name));
    const archive = createArchive(tree);
    const sources = [
      memorySource('demo/kontiki.tar', archive),
      randomSource(`demo/random-${randomBytes(4).toString('hex')}`, LARGE_FILE_BYTES),
    ];
    this.#totalBytes = sources.reduce((sum, source) => sum + source.sizeBytes, 0);
    return sources;
  }

  async #upload(sources: readonly FileSource[]): Promise<WrittenFile[]> {
    const client = new FileStoreClient(this.#filesClient);
    const written: WrittenFile[] = [];
    for (const source of sources) {
      const file = await uploadFile(client, source, {
        bufferBytes: PIECE_BYTES,
        inFlight: FILE_REQUESTS,
        onWritten: (bytes, serverId) => {
          this.#writtenBytes += bytes;
          this.#fileWrites++;
          this.#fileRecovery.acknowledged(serverId);
          if (this.#writtenBytes >= KILL_AT * this.#totalBytes) this.#halfway.resolve();
        },
      });
      written.push(file);
    }
    return written;
  }

  /**
   * Kills the leader of the file store in the middle of the upload, and waits until both groups go
   * on.
   */
  async #killLeader(upload: Promise<unknown>, display: Display): Promise<ServerProcess> {
    const failed = this.#counter.failed.then(() => undefined);
    await Promise.race([this.#halfway.promise, upload, failed]);
    const leaderId = this.#filesClient.leaderId;
    const victim = this.#cluster.servers.find((server) => server.id === leaderId);
    if (victim === undefined) throw new CliError('the file store has no leader');
    this.#ledBoth = this.#counterClient.leaderId === leaderId;
    this.#fileRecovery.killed(leaderId);
    this.#counterRecovery.killed(leaderId);
    await victim.kill();
    const groups = this.#ledBoth ? 'both groups' : 'the file store';
    display.step(`killed ${leaderId}, the leader of ${groups}, with SIGKILL`);
    return victim;
  }

  async #finishUpload(
    upload: Promise<WrittenFile[]>,
    victim: ServerProcess,
    display: Display,
  ): Promise<WrittenFile[]> {
    const restarted = this.#restart(victim, display);
    restarted.catch(() => undefined);
    const failed = this.#counter.failed.then(() => [] as WrittenFile[]);
    const files = await Promise.race([upload, failed]);
    await restarted;
    return files;
  }

  async #restart(victim: ServerProcess, display: Display): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, DOWN_TIME_MS));
    if (this.#isAbandoned) throw new CliError('the demonstration was given up');
    await victim.start();
    display.step(`started ${victim.id} again`);
  }

  async #agree(display: Display): Promise<number> {
    const startedMs = performance.now();
    const clients = [this.#counterClient, this.#filesClient];
    const indices = await Promise.all(clients.map((client) => untilAgreed(client, this.#cluster)));
    display.step(
      `all three agree: counter applied up to ${indices[0]}, file store up to ${indices[1]}`,
    );
    return performance.now() - startedMs;
  }

  async #check(files: readonly WrittenFile[], display: Display): Promise<void> {
    const count = this.#counter.acknowledged;
    await checkCounters(this.#counterClient, this.#cluster, count);
    display.step(`each counter is ${count}: every acknowledged write is there exactly once`);
    await checkFiles(this.#filesClient.groupId, this.#cluster, files);
    display.step(`SHA-256 of ${files.length} files is right on the disk of each server`);
    for (const { path, sizeBytes, sha256 } of files) {
      display.print(`         ${sha256}\n           ${path} (${sizeBytes} bytes)`);
    }
  }

  #summarize(display: Display, elapsedMs: number, agreedMs: number, victimId: string): void {
    const writes = this.#counter.acknowledged + this.#fileWrites;
    const seconds = elapsedMs / 1000;
    const rate = (this.#writtenBytes / 1e6 / seconds).toFixed(1);
    const after = (recovery: Recovery) => `${((recovery.elapsedMs ?? 0) / 1000).toFixed(2)} s`;
    display.print(
      [
        '',
        `writes            ${writes} acknowledged (${this.#counter.acknowledged} counter, ` +
          `${this.#fileWrites} file) in ${seconds.toFixed(1)} s`,
        `files             ${megabytes(this.#writtenBytes)} MB, ${rate} MB/s with the kill`,
        `kill of ${victimId}        next acknowledged write after ` +
          `${after(this.#fileRecovery)} (file store),`,
        `                  ${after(this.#counterRecovery)} (counter` +
          `${this.#ledBoth ? '' : ', which had another leader'})`,
        'agreement         ' +
          `all three servers ${(agreedMs / 1000).toFixed(2)} s after the last write`,
        'result            nothing lost, nothing applied twice',
      ].join('\n'),
    );
  }
}
