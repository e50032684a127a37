import { createHash } from 'node:crypto';
import { relative, sep } from 'node:path';
import { toError } from '../common/errors.js';
import type { Timer, Timers } from '../common/runtime.js';
import { RaftIOException, TimeoutIOException } from '../protocol/exceptions.js';
import {
  type InstallSnapshotReply,
  InstallSnapshotResult,
  type SnapshotChunk,
} from '../protocol/server-messages.js';
import type { InstallStream, InstallStreamListener } from '../rpc/ratis/server/install-stream.js';
import type { VirtualFile, VirtualFileSystem } from '../runtime/index.js';
import type { SnapshotFile, SnapshotInfo } from '../statemachine/types.js';
import type { SnapshotInstallConfig } from './server-config.js';

/** Files that are opened before anything is sent: a newer snapshot may have them deleted. */
const OPEN_FILES_MAX = 256;

export interface SnapshotSenderOptions {
  readonly snapshot: SnapshotInfo;
  readonly requestId: string;
  readonly stateMachineDirectory: string;
  readonly config: SnapshotInstallConfig;
  readonly fs: VirtualFileSystem;
  readonly timers: Timers;
  open(listener: InstallStreamListener): InstallStream;
  /** Sends a piece; false when the stream is full. */
  send(stream: InstallStream, chunk: SnapshotChunk): boolean;
  onReply(reply: InstallSnapshotReply): void;
  /** Called once, unless the sender was stopped: an error, or the follower has the snapshot. */
  onEnd(error: Error | undefined): void;
}

/**
 * Sends the files of one snapshot, piece by piece (spec: consensus 5.3, wire-grpc 7.5). One piece
 * is in memory here; the stream holds what it has no room for, at most as many pieces as may be
 * unanswered.
 */
export class SnapshotSender implements InstallStreamListener {
  readonly #options: SnapshotSenderOptions;
  readonly #stream: InstallStream;
  #sent = 0;
  #answered = 0;
  #allSent = false;
  #full = false;
  #over = false;
  #wake: (() => void) | undefined;
  #timer: Timer | undefined;

  constructor(options: SnapshotSenderOptions) {
    this.#options = options;
    this.#stream = options.open(this);
    this.#run().catch((error) => this.#end(toError(error)));
  }

  /** Gives up; nothing more is told. */
  stop(): void {
    if (this.#over) return;
    this.#close();
    this.#stream.cancel();
  }

  onReply(reply: InstallSnapshotReply): void {
    if (this.#over) return;
    const { body, result } = reply;
    const { SUCCESS, ALREADY_INSTALLED } = InstallSnapshotResult;
    if (result !== SUCCESS && result !== ALREADY_INSTALLED) {
      this.#options.onReply(reply);
      this.#end(new RaftIOException(`the follower answered ${resultName(result)}`));
      return;
    }
    const expected = this.#answered;
    if (body?.kind !== 'requestIndex' || body.requestIndex !== expected || expected >= this.#sent) {
      this.#end(new RaftIOException(`a reply does not answer piece ${expected}`));
      return;
    }
    this.#answered++;
    this.#watch();
    this.#options.onReply(reply);
    // It needs no more of this snapshot; a stream that is cut short does it no harm.
    if (result === ALREADY_INSTALLED) this.#end(undefined);
    else this.#go();
    this.#finishIfDone();
  }

  onDrain(): void {
    this.#full = false;
    this.#go();
  }

  onEnd(error: Error | undefined): void {
    if (this.#over) return;
    this.#end(error ?? new RaftIOException('the follower hung up'));
  }

  /** Every piece is answered: the follower ends the stream by itself. */
  #finishIfDone(): void {
    if (this.#over || !this.#allSent || this.#answered < this.#sent) return;
    this.#close();
    this.#options.onEnd(undefined);
  }

  async #run(): Promise<void> {
    const { snapshot, fs, config } = this.#options;
    const files: VirtualFile[] = [];
    const buffer = new Uint8Array(
      Math.max(1, Math.min(config.chunkSizeMaxBytes, sizeOf(snapshot))),
    );
    try {
      for (const { path } of snapshot.files.slice(0, OPEN_FILES_MAX)) {
        files.push(await fs.open(path, 'r'));
      }
      for (const [i, file] of snapshot.files.entries()) {
        const opened = files[i] ?? (await fs.open(file.path, 'r'));
        files[i] = opened;
        await this.#sendFile(file, opened, buffer, i === snapshot.files.length - 1);
        if (this.#over) return;
      }
    } finally {
      await Promise.all(files.map((file) => file.close()));
    }
    this.#allSent = true;
    this.#stream.halfClose();
    this.#finishIfDone();
  }

  async #sendFile(
    file: SnapshotFile,
    opened: VirtualFile,
    buffer: Uint8Array,
    isLast: boolean,
  ): Promise<void> {
    const hash = file.digest === undefined ? createHash('md5') : undefined;
    for (let offset = 0, chunkIndex = 0; ; chunkIndex++) {
      await this.#room();
      if (this.#over) return;
      const wanted = Math.min(buffer.length, file.sizeBytes - offset);
      const data = buffer.subarray(0, wanted);
      await readFully(opened, data, offset, file.path);
      hash?.update(data);
      const done = offset + wanted >= file.sizeBytes;
      const late = done && hash !== undefined ? new Uint8Array(hash.digest()) : new Uint8Array(0);
      const fileDigest = file.digest ?? late;
      const filename = this.#nameOf(file);
      if (this.#over) return;
      this.#sendPiece(
        { filename, totalSizeBytes: 0, fileDigest, chunkIndex, offsetBytes: offset, data, done },
        done && isLast,
      );
      offset += wanted;
      if (done) return;
    }
  }

  #sendPiece(piece: SnapshotChunk['fileChunks'][number], done: boolean): void {
    const { snapshot, requestId } = this.#options;
    const hasRoom = this.#options.send(this.#stream, {
      kind: 'chunk',
      requestId,
      requestIndex: this.#sent++,
      termIndex: snapshot.termIndex,
      fileChunks: [piece],
      totalSizeBytes: sizeOf(snapshot),
      done,
    });
    this.#full = !hasRoom;
    if (this.#sent === this.#answered + 1) this.#watch();
  }

  /** Waits until another piece may be sent. */
  async #room(): Promise<void> {
    const limit = Math.max(1, this.#options.config.requestElementLimit);
    while (!this.#over && (this.#full || this.#sent - this.#answered >= limit)) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #go(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  /** Each request has to be answered in time (spec: wire-grpc 7.5). */
  #watch(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    if (this.#answered === this.#sent) return;
    const { config, timers } = this.#options;
    const limitMs = Math.max(1, config.requestElementLimit) * config.requestTimeoutMs;
    this.#timer = timers.schedule(limitMs, () => {
      this.#end(new TimeoutIOException(`piece ${this.#answered} is not answered in ${limitMs} ms`));
    });
  }

  /** `sm/` and the path inside the state machine's directory, whatever the platform. */
  #nameOf(file: SnapshotFile): string {
    const inside = relative(this.#options.stateMachineDirectory, file.path).split(sep);
    return ['sm', ...inside].join('/');
  }

  #end(error: Error | undefined): void {
    if (this.#over) return;
    this.#close();
    this.#stream.cancel();
    this.#options.onEnd(error);
  }

  #close(): void {
    this.#over = true;
    this.#timer?.cancel();
    this.#go();
  }
}

function sizeOf(snapshot: SnapshotInfo): number {
  return snapshot.files.reduce((sum, file) => sum + file.sizeBytes, 0);
}

async function readFully(
  file: VirtualFile,
  buffer: Uint8Array,
  offset: number,
  path: string,
): Promise<void> {
  for (let at = 0; at < buffer.length; ) {
    const count = await file.read(buffer.subarray(at), offset + at);
    if (count === 0) throw new RaftIOException(`${path} ends at byte ${offset + at}`);
    at += count;
  }
}

function resultName(result: number): string {
  const found = Object.entries(InstallSnapshotResult).find(([, value]) => value === result);
  return found?.[0] ?? String(result);
}
