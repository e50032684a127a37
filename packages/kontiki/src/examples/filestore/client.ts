import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { RaftClient } from '../../client/index.js';
import { InvalidArgumentError } from '../../common/errors.js';
import { RaftIOException } from '../../protocol/exceptions.js';
import type { RaftPeerId } from '../../protocol/ids.js';
import {
  DeleteRequestProtoSchema,
  FileStoreRequestProtoSchema,
  type ReadReplyProto,
  ReadReplyProtoSchema,
  ReadRequestProtoSchema,
  WriteReplyProtoSchema,
} from './gen/filestore_pb.js';
import { encodeWrite, layOutWrite } from './messages.js';

/**
 * Flags of a write: the last one of a file closes it; `sync` travels to Java servers, Kontiki's
 * always sync.
 */
export interface WriteFlags {
  readonly close?: boolean;
  readonly sync?: boolean;
}

/** The answer to a write. */
export interface WriteAnswer {
  /** Bytes written. */
  readonly length: number;
  /** Who answered. */
  readonly serverId: RaftPeerId;
}

/** What a read gave. */
export interface FileRead {
  readonly resolvedPath: string;
  readonly offset: number;
  /** May be shorter than asked for. */
  readonly data: Uint8Array;
}

/**
 * Calls of the file store over a RaftClient (spec: examples 5.2). All of them reject with the
 * exception of the reply.
 */
export class FileStoreClient {
  readonly #client: RaftClient;

  constructor(client: RaftClient) {
    this.#client = client;
  }

  /** Writes `data` at `offset`, in order with this client's other writes; the bytes written. */
  async write(
    path: string,
    offset: number,
    data: Uint8Array,
    flags: WriteFlags = {},
  ): Promise<number> {
    return (await this.send(encodeWrite(path, offset, data, flags))).length;
  }

  /** Like `write`, but `fill` puts the data right into the message: one copy less. */
  async writeWith(
    path: string,
    place: { readonly offset: number; readonly length: number },
    fill: (data: Uint8Array) => Promise<void> | void,
    flags: WriteFlags = {},
  ): Promise<number> {
    const { message, data } = layOutWrite(path, { ...place, ...flags });
    await fill(data);
    return (await this.send(message)).length;
  }

  /** Sends a message that `layOutWrite` or `encodeWrite` made. */
  async send(message: Uint8Array): Promise<WriteAnswer> {
    const reply = await this.#client.async().send(message);
    const bytes = reply.message;
    if (bytes === undefined) throw new RaftIOException('the reply to a write is empty');
    const length = Number(fromBinary(WriteReplyProtoSchema, bytes).length);
    return { length, serverId: reply.serverId };
  }

  /** Up to `length` bytes at `offset`, by a linearizable read. */
  async read(path: string, offset: number, length: number): Promise<FileRead> {
    const request = create(ReadRequestProtoSchema, {
      path: utf8(path),
      offset: BigInt(offset),
      length: BigInt(length),
    });
    const message = toBinary(ReadRequestProtoSchema, request);
    const reply = await this.#client.io().sendReadOnly(message);
    const { resolvedPath, offset: at, data } = decodeRead(reply.message);
    return { resolvedPath: text(resolvedPath), offset: Number(at), data };
  }

  /** Resolves with the resolved path once the file exists. */
  async watch(path: string, signal?: AbortSignal): Promise<string> {
    const request = create(ReadRequestProtoSchema, { path: utf8(path), isWatch: true });
    const message = toBinary(ReadRequestProtoSchema, request);
    const options = signal === undefined ? {} : { signal };
    const reply = await this.#client.async().sendReadOnlyUnordered(message, options);
    return text(decodeRead(reply.message).resolvedPath);
  }

  /** Deletes a file, in order with this client's writes. */
  async delete(path: string): Promise<void> {
    const request = create(FileStoreRequestProtoSchema, {
      Request: {
        case: 'delete',
        value: create(DeleteRequestProtoSchema, { path: utf8(path) }),
      },
    });
    await this.#client.async().send(toBinary(FileStoreRequestProtoSchema, request));
  }

  /**
   * The whole file in pieces, in order, with `inFlight` reads on their way. `sizeBytes` must not
   * exceed the file's size.
   */
  async *readAll(
    path: string,
    sizeBytes: number,
    options: { readonly pieceBytes: number; readonly inFlight: number },
  ): AsyncGenerator<Uint8Array> {
    const { pieceBytes, inFlight } = options;
    if (pieceBytes < 1 || inFlight < 1) {
      throw new InvalidArgumentError('pieceBytes and inFlight must be at least 1');
    }
    const ahead: Promise<Uint8Array>[] = [];
    let next = 0;
    for (;;) {
      for (; ahead.length < inFlight && next < sizeBytes; next += pieceBytes) {
        const piece = this.#readExactly(path, next, Math.min(pieceBytes, sizeBytes - next));
        // The failure shows when its turn comes.
        piece.catch(() => undefined);
        ahead.push(piece);
      }
      const first = ahead.shift();
      if (first === undefined) return;
      yield await first;
    }
  }

  /** Servers may return less than was asked for. */
  async #readExactly(path: string, offset: number, length: number): Promise<Uint8Array> {
    const first = (await this.read(path, offset, length)).data;
    if (first.length === length) return first;
    const whole = new Uint8Array(length);
    whole.set(first);
    for (let count = first.length; count < length; ) {
      const { data } = await this.read(path, offset + count, length - count);
      if (data.length === 0) throw new RaftIOException(`${path} ends at ${offset + count}`);
      whole.set(data, count);
      count += data.length;
    }
    return whole;
  }
}

function decodeRead(message: Uint8Array | undefined): ReadReplyProto {
  if (message === undefined) throw new RaftIOException('the reply to a read is empty');
  return fromBinary(ReadReplyProtoSchema, message);
}

function utf8(value: string): Uint8Array {
  return new TextEncoder().encode(value);
}

function text(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
