import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { InvalidArgumentError } from '../../common/errors.js';
import { RaftIOException } from '../../protocol/exceptions.js';
import type { RaftPeerId } from '../../protocol/ids.js';
import type { FileStoreClient } from './client.js';
import { layOutWrite } from './messages.js';

/** Where the bytes of a file come from. */
export interface FileSource {
  /** Path in the file store. */
  readonly path: string;
  readonly sizeBytes: number;
  /** Fills `data` with the bytes at `offset`; called in ascending order. */
  fill(data: Uint8Array, offset: number): Promise<void> | void;
}

/** A file that was written. */
export interface WrittenFile {
  readonly path: string;
  readonly sizeBytes: number;
  /** SHA-256 in hex. */
  readonly sha256: string;
}

export interface UploadOptions {
  /** Bytes of one write. */
  readonly bufferBytes: number;
  /** Writes without an answer. */
  readonly inFlight: number;
  readonly sync?: boolean;
  /** Told of every acknowledged write, and who answered it. */
  readonly onWritten?: (bytes: number, serverId: RaftPeerId) => void;
  readonly signal?: AbortSignal;
}

export interface LoadOptions extends UploadOptions {
  readonly numFiles: number;
  readonly sizeBytes: number;
}

export interface LoadResult {
  readonly files: readonly WrittenFile[];
  readonly totalBytes: number;
  readonly elapsedMs: number;
}

const RANDOM_BLOCK_BYTES = 1 << 20;
const STAMP_BYTES = 8;

/**
 * Content that compresses badly and differs at every place, made fast: a random block with the
 * offset stamped into each piece.
 */
export function randomSource(path: string, sizeBytes: number): FileSource {
  const block = randomBytes(Math.max(STAMP_BYTES, Math.min(sizeBytes, RANDOM_BLOCK_BYTES)));
  return {
    path,
    sizeBytes,
    fill(data, offset) {
      for (let at = 0; at < data.length; at += block.length) {
        data.set(block.subarray(0, Math.min(block.length, data.length - at)), at);
      }
      if (data.length < STAMP_BYTES) return;
      new DataView(data.buffer, data.byteOffset).setFloat64(0, offset);
    },
  };
}

/** The bytes of a file on disk, which must not change meanwhile. */
export function localSource(path: string, handle: FileHandle, sizeBytes: number): FileSource {
  return {
    path,
    sizeBytes,
    async fill(data, offset) {
      for (let count = 0; count < data.length; ) {
        const { bytesRead } = await handle.read(data, count, data.length - count, offset + count);
        if (bytesRead === 0) {
          throw new RaftIOException(`${path} became shorter while it was read`);
        }
        count += bytesRead;
      }
    },
  };
}

/** Bytes that are at hand. */
export function memorySource(path: string, bytes: Uint8Array): FileSource {
  return {
    path,
    sizeBytes: bytes.length,
    fill(data, offset) {
      data.set(bytes.subarray(offset, offset + data.length));
    },
  };
}

/** Lets at most `limit` things be under way, and keeps the first failure. */
class Window {
  readonly #limit: number;
  readonly #running = new Set<Promise<void>>();
  #failure: { readonly error: unknown } | undefined;

  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Resolves when there is room. Rejects with the first failure. */
  async room(): Promise<void> {
    while (this.#running.size >= this.#limit) await Promise.race(this.#running);
    if (this.#failure !== undefined) throw this.#failure.error;
  }

  add(work: Promise<void>): void {
    const settled: Promise<void> = work.then(
      () => {
        this.#running.delete(settled);
      },
      (error: unknown) => {
        this.#running.delete(settled);
        this.#failure ??= { error };
      },
    );
    this.#running.add(settled);
  }

  async drain(): Promise<void> {
    await Promise.all(this.#running);
    if (this.#failure !== undefined) throw this.#failure.error;
  }
}

function checkOptions(options: UploadOptions): void {
  for (const name of ['bufferBytes', 'inFlight'] as const) {
    const value = options[name];
    if (!Number.isSafeInteger(value) || value < 1) {
      throw new InvalidArgumentError(`${name} must be a whole number of at least 1, not ${value}`);
    }
  }
}

/**
 * Writes one file in pieces, `inFlight` at a time; rejects with the first failure. The last piece
 * closes the file.
 */
export async function uploadFile(
  client: FileStoreClient,
  source: FileSource,
  options: UploadOptions,
): Promise<WrittenFile> {
  checkOptions(options);
  const window = new Window(options.inFlight);
  const sha256 = await sendPieces(client, source, options, window);
  await window.drain();
  return { path: source.path, sizeBytes: source.sizeBytes, sha256 };
}

async function sendPieces(
  client: FileStoreClient,
  source: FileSource,
  options: UploadOptions,
  window: Window,
): Promise<string> {
  const { path, sizeBytes } = source;
  const hash = createHash('sha256');
  const sync = options.sync ?? false;
  let offset = 0;
  do {
    await window.room();
    options.signal?.throwIfAborted();
    const length = Math.min(options.bufferBytes, sizeBytes - offset);
    const close = offset + length >= sizeBytes;
    const { message, data } = layOutWrite(path, { offset, length, close, sync });
    await source.fill(data, offset);
    hash.update(data);
    window.add(
      client.send(message).then((answer) => {
        if (answer.length !== length) {
          throw new RaftIOException(`${answer.length} of ${length} bytes written`);
        }
        options.onWritten?.(length, answer.serverId);
      }),
    );
    offset += length;
  } while (offset < sizeBytes);
  return hash.digest('hex');
}

/**
 * Writes `numFiles` files of random content, `file-<uuid>-<i>`, as the Java load generator names
 * them (spec: examples 5.5).
 */
export async function generateLoad(
  client: FileStoreClient,
  options: LoadOptions,
): Promise<LoadResult> {
  checkOptions(options);
  const run = randomUUID();
  const started = performance.now();
  const window = new Window(options.inFlight);
  const files: WrittenFile[] = [];
  for (let i = 0; i < options.numFiles; i++) {
    const source = randomSource(`file-${run}-${i}`, options.sizeBytes);
    const sha256 = await sendPieces(client, source, options, window);
    files.push({ path: source.path, sizeBytes: source.sizeBytes, sha256 });
  }
  await window.drain();
  const totalBytes = options.numFiles * options.sizeBytes;
  return { files, totalBytes, elapsedMs: performance.now() - started };
}

export interface ReadBackOptions {
  /** Bytes of one read. */
  readonly bufferBytes: number;
  /** Reads without an answer. */
  readonly inFlight: number;
  /** Told of every piece that was read. */
  readonly onRead?: (bytes: number) => void;
}

/** Reads a file back and gives its SHA-256 in hex. */
export async function hashFile(
  client: FileStoreClient,
  path: string,
  sizeBytes: number,
  options: ReadBackOptions,
): Promise<string> {
  const hash = createHash('sha256');
  const pieces = client.readAll(path, sizeBytes, {
    pieceBytes: options.bufferBytes,
    inFlight: options.inFlight,
  });
  for await (const piece of pieces) {
    hash.update(piece);
    options.onRead?.(piece.length);
  }
  return hash.digest('hex');
}

/** Reads files back and compares them with what was written; the paths of those that differ. */
export async function verifyFiles(
  client: FileStoreClient,
  files: readonly WrittenFile[],
  options: ReadBackOptions,
): Promise<string[]> {
  const different: string[] = [];
  for (const { path, sizeBytes, sha256 } of files) {
    if ((await hashFile(client, path, sizeBytes, options)) !== sha256) different.push(path);
  }
  return different;
}
