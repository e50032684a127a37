import { messageOf } from '../common/errors.js';
import { RaftIOException } from '../protocol/exceptions.js';
import { InstallSnapshotResult, type SnapshotChunk } from '../protocol/server-messages.js';
import { discardIncoming, IncomingSnapshot, incomingDirectory } from '../storage/index.js';
import type { DivisionParts } from './division-parts.js';
import type { SnapshotReload } from './snapshot-reload.js';

interface Transfer {
  readonly requestId: string;
  readonly leaderTerm: number;
  /** Undefined when the snapshot is not needed. */
  readonly incoming: IncomingSnapshot | undefined;
  expected: number;
}

/** Request ids become names of directories. */
const SAFE_ID = /^[A-Za-z0-9_-]{1,100}$/;

/**
 * The pieces of a snapshot, in strict order (spec: consensus 5.3). A transfer is known by its
 * request id and the leader's term (spec: H-24); piece 0 starts a new one, and what the last one
 * left is removed.
 */
export class ChunkReceiver {
  readonly #parts: DivisionParts;
  readonly #reload: SnapshotReload;
  #transfer: Transfer | undefined;

  constructor(parts: DivisionParts, reload: SnapshotReload) {
    this.#parts = parts;
    this.#reload = reload;
  }

  /** Rejects when the piece is not acceptable: the transfer is lost then. */
  async take(leaderTerm: number, chunk: SnapshotChunk): Promise<InstallSnapshotResult> {
    const { requestIndex, requestId } = chunk;
    if (requestIndex === 0) await this.#start(leaderTerm, chunk);
    const transfer = this.#transfer;
    if (transfer?.requestId !== requestId || transfer.leaderTerm !== leaderTerm) {
      return InstallSnapshotResult.SNAPSHOT_EXPIRED;
    }
    if (requestIndex !== transfer.expected) {
      await this.abandon();
      throw new RaftIOException(`piece ${requestIndex} came where ${transfer.expected} belongs`);
    }
    transfer.expected++;
    if (transfer.incoming === undefined || this.#isCovered(chunk)) {
      return InstallSnapshotResult.ALREADY_INSTALLED;
    }
    try {
      for (const piece of chunk.fileChunks) await transfer.incoming.write(piece);
      if (!chunk.done) return InstallSnapshotResult.SUCCESS;
      await transfer.incoming.complete();
    } catch (error) {
      await this.abandon();
      throw error;
    }
    return this.#install(transfer.incoming, chunk);
  }

  /** Removes what has arrived of a transfer that is not complete. */
  async abandon(): Promise<void> {
    const transfer = this.#transfer;
    this.#transfer = undefined;
    try {
      await transfer?.incoming?.abandon();
    } catch (error) {
      const text = `files of a broken transfer stay: ${messageOf(error)}`;
      this.#parts.logger.log('warn', text, { error });
    }
  }

  async #start(leaderTerm: number, chunk: SnapshotChunk): Promise<void> {
    const { requestId } = chunk;
    const { storage, fileSystem, logger, runtime } = this.#parts;
    await this.abandon();
    if (!SAFE_ID.test(requestId)) throw new RaftIOException('the request id is not acceptable');
    let incoming: IncomingSnapshot | undefined;
    if (!this.#isCovered(chunk)) {
      await discardIncoming({ storage, fs: fileSystem, logger });
      incoming = await IncomingSnapshot.create({
        directory: incomingDirectory(storage, requestId),
        fs: fileSystem,
        logger,
        wallTimeMs: () => runtime.clock.wallTimeMs(),
      });
      logger.log('info', `receiving the snapshot at ${chunk.termIndex.index}`);
    }
    this.#transfer = { requestId, leaderTerm, incoming, expected: 0 };
  }

  #isCovered(chunk: SnapshotChunk): boolean {
    return this.#parts.engine.commitIndex >= chunk.termIndex.index;
  }

  async #install(incoming: IncomingSnapshot, chunk: SnapshotChunk): Promise<InstallSnapshotResult> {
    const isInstalled = await this.#reload.install(chunk.termIndex, incoming.directory);
    if (!isInstalled) await this.abandon();
    this.#transfer = undefined;
    const { SUCCESS, ALREADY_INSTALLED } = InstallSnapshotResult;
    return isInstalled ? SUCCESS : ALREADY_INSTALLED;
  }
}
