import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { messageOf } from '../../common/errors.js';
import { RaftIOException, ResourceUnavailableException } from '../../protocol/exceptions.js';
import type { FileDataStore } from './data-store.js';
import {
  ReadReplyProtoSchema,
  type ReadRequestProto,
  ReadRequestProtoSchema,
} from './gen/filestore_pb.js';
import { normalizePath } from './paths.js';
import { refusal } from './proposals.js';

/** Bytes that one read returns at most (spec: examples 5.3). */
export const READ_BYTES_MAX = 64 * 1024 * 1024;
/** Watches that wait at once. */
const WATCHES_MAX = 10_000;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Queries of the file store: reads of applied bytes, and watches for a file to be made (spec:
 * examples 5.3).
 */
export class FileQueries {
  readonly #store: FileDataStore;
  readonly #watches = new Map<string, (() => void)[]>();
  #watchCount = 0;

  constructor(store: FileDataStore) {
    this.#store = store;
  }

  /**
   * Answers a ReadRequestProto with a ReadReplyProto. Rejects with a StateMachineException: after
   * another error clients would ask again for ever.
   */
  async answer(message: Uint8Array): Promise<Uint8Array> {
    try {
      return await this.#answer(message);
    } catch (error) {
      throw refusal(messageOf(error), error);
    }
  }

  async #answer(message: Uint8Array): Promise<Uint8Array> {
    const request = fromBinary(ReadRequestProtoSchema, message);
    const path = normalizePath(decoder.decode(request.path), this.#store.root);
    if (request.isWatch) return this.#watch(path);
    return this.#read(path, request);
  }

  /** A file was made: those who wait for it are answered. */
  created(path: string): void {
    const waiting = this.#watches.get(path);
    if (waiting === undefined) return;
    this.#watches.delete(path);
    this.#watchCount -= waiting.length;
    for (const done of waiting) done();
  }

  #watch(path: string): Promise<Uint8Array> {
    const resolvedPath = encoder.encode(path);
    const reply = toBinary(ReadReplyProtoSchema, create(ReadReplyProtoSchema, { resolvedPath }));
    if (this.#store.table.applied(path) !== undefined) return Promise.resolve(reply);
    if (this.#watchCount >= WATCHES_MAX) {
      throw new ResourceUnavailableException(`${WATCHES_MAX} watches for files wait already`);
    }
    this.#watchCount++;
    return new Promise((resolve) => {
      const waiting = this.#watches.get(path) ?? [];
      waiting.push(() => resolve(reply));
      this.#watches.set(path, waiting);
    });
  }

  async #read(path: string, request: ReadRequestProto): Promise<Uint8Array> {
    const version = this.#store.table.applied(path);
    if (version === undefined) throw new RaftIOException(`File ${path} not found`);
    const offset = Number(request.offset);
    const length = Number(request.length);
    if (offset + length > version.sizeBytes) {
      throw new RaftIOException(
        `Failed to read Committed: offset (=${offset}) + length (=${length}) > ` +
          `size (=${version.sizeBytes}), path=${path}`,
      );
    }
    const data = await version.read(offset, Math.min(length, READ_BYTES_MAX));
    const resolvedPath = encoder.encode(path);
    const reply = create(ReadReplyProtoSchema, { resolvedPath, offset: request.offset, data });
    return toBinary(ReadReplyProtoSchema, reply);
  }
}
