import { create, toBinary } from '@bufbuild/protobuf';
import { messageOf, toError } from '../../common/errors.js';
import type { StateMachineBody } from '../../proto/wire/types.js';
import {
  IllegalArgumentException,
  UnsupportedOperationException,
} from '../../protocol/exceptions.js';
import {
  BaseStateMachine,
  type BaseStateMachineOptions,
} from '../../statemachine/base-state-machine.js';
import type {
  SnapshotInfo,
  StateMachineServer,
  TransactionContext,
} from '../../statemachine/types.js';
import { joinPath } from '../../storage/paths.js';
import type { RaftStorage } from '../../storage/types.js';
import { FileDataStore } from './data-store.js';
import { FileQueries } from './file-queries.js';
import type { FileVersion } from './file-version.js';
import { DeleteReplyProtoSchema, WriteReplyProtoSchema } from './gen/filestore_pb.js';
import {
  decodeRequest,
  encodeLogHeader,
  type FileStoreRequest,
  type WriteHeader,
  withChecksum,
} from './messages.js';
import { normalizePath } from './paths.js';
import { misfit, Proposals, refusal } from './proposals.js';

export interface FileStoreOptions extends BaseStateMachineOptions {
  /** Where the data files go; default: `files` in the group's storage root. */
  readonly directory?: string;
}

const FILES_DIRECTORY = 'files';

/**
 * Files, written through the log (spec: examples 5). The log holds the headers of writes; the data
 * goes into files beside it, is synced before an entry counts as durable, and is read back for
 * followers that need it. Files survive restarts: the table of files comes back from the snapshot
 * and the log.
 */
export class FileStoreStateMachine extends BaseStateMachine {
  readonly #directory: string | undefined;
  readonly #data: FileDataStore;
  readonly #proposals: Proposals;
  readonly #queries: FileQueries;
  /** Files of the latest snapshot besides the table itself. */
  #snapshotData: SnapshotInfo['files'] = [];

  constructor(options: FileStoreOptions = {}) {
    super(options);
    this.#directory = options.directory;
    this.#data = new FileDataStore(this.fs);
    this.#proposals = new Proposals(this.#data.table);
    this.#queries = new FileQueries(this.#data);
  }

  override get dataApi(): FileDataStore {
    return this.#data;
  }

  /** Folder of the data files. */
  get directory(): string {
    return this.#data.root;
  }

  /** Where the applied bytes of a file are on disk; undefined when there is no such file. */
  dataFileOf(path: string): string | undefined {
    return this.#data.table.applied(normalizePath(path, this.directory))?.file.path;
  }

  override async initialize(server: StateMachineServer, storage: RaftStorage): Promise<void> {
    const directory = this.#directory ?? joinPath(storage.rootDirectory, FILES_DIRECTORY);
    await this.#data.prepare(directory);
    await super.initialize(server, storage);
    await this.#data.scan(this.lastAppliedTermIndex.index);
  }

  override async pause(): Promise<void> {
    await this.#data.release();
  }

  override async reinitialize(): Promise<void> {
    this.#data.table.clear();
    this.#proposals.clear();
    await super.reinitialize();
    await this.#data.scan(this.lastAppliedTermIndex.index);
  }

  override async close(): Promise<void> {
    await this.#data.release();
  }

  /** Splits a write: its header is logged, its data goes beside the log. */
  override startTransaction(context: TransactionContext): void {
    try {
      const request = decodeRequest(context.logData);
      if (request.kind === 'write') this.#startWrite(context, request);
      else if (request.kind === 'delete') {
        context.stateMachineContext = {
          kind: 'delete',
          path: normalizePath(request.path, this.directory),
        };
      } else {
        throw new UnsupportedOperationException(`Unexpected request case ${request.kind}`);
      }
    } catch (error) {
      context.exception = toError(error);
    }
  }

  override preAppendTransaction(context: TransactionContext): void {
    const request = context.stateMachineContext as FileStoreRequest | undefined;
    if (request?.kind === 'writeHeader') this.#proposals.write(context, request.header);
    if (request?.kind === 'delete') this.#proposals.delete(context, request.path);
  }

  override cancelTransaction(context: TransactionContext): void {
    this.#settleProposal(context);
  }

  notifyNotLeader(): void {
    this.#proposals.clear();
  }

  /** Files found at start that no write up to here made are left over from before. */
  override notifyTermIndexUpdated(term: number, index: number): void {
    super.notifyTermIndexUpdated(term, index);
    for (const stale of this.#data.table.takeStale(index)) this.#discard(stale);
  }

  override applyTransaction(context: TransactionContext): Uint8Array {
    const index = context.logEntry?.index ?? -1;
    this.#settleProposal(context);
    try {
      const request = this.#requestOf(context);
      if (request.kind === 'writeHeader') return this.#applyWrite(index, request.header);
      if (request.kind === 'delete') return this.#applyDelete(request.path);
      throw refusal(`Unexpected request case ${request.kind}, index=${index}`);
    } catch (error) {
      this.#data.refused(index);
      throw error;
    }
  }

  override query(message: Uint8Array): Promise<Uint8Array> {
    return this.#queries.answer(message);
  }

  /** Saves the table of files; the data that it names is synced first. */
  override async takeSnapshot(): Promise<number> {
    const table = this.#data.table.encode();
    const versions = [...this.#data.table.all()].filter((version) => version.isApplied);
    await this.#data.flush(this.lastAppliedTermIndex.index);
    await Promise.all(versions.map((version) => version.file.sync()));
    const index = await this.saveSnapshot(table);
    this.#snapshotData = versions.map(snapshotFileOf);
    return index;
  }

  /** The saved table, and the data files that it names. */
  override getLatestSnapshot(): SnapshotInfo | undefined {
    const latest = super.getLatestSnapshot();
    if (latest === undefined) return undefined;
    return { termIndex: latest.termIndex, files: [...latest.files, ...this.#snapshotData] };
  }

  override restore(content: Uint8Array): void {
    const store = this.#data;
    store.table.decode(content, (path, id) => store.existing(path, id));
    this.#snapshotData = [...store.table.all()].map(snapshotFileOf);
  }

  override toStateMachineLogEntryString(body: StateMachineBody): string {
    try {
      const request = decodeRequest(body.logData);
      if (request.kind === 'delete') return `delete ${request.path}`;
      if (request.kind !== 'writeHeader') return request.kind;
      const { path, offset, length, close } = request.header;
      return `write ${path} offset=${offset} length=${length}${close ? ' close' : ''}`;
    } catch (error) {
      return `unreadable: ${messageOf(error)}`;
    }
  }

  #startWrite(
    context: TransactionContext,
    { header, data }: { readonly header: WriteHeader; readonly data: Uint8Array },
  ): void {
    const path = normalizePath(header.path, this.directory);
    if (header.length !== data.length) {
      throw new IllegalArgumentException(
        `The header says ${header.length} bytes, but there are ${data.length}, path=${path}`,
      );
    }
    const logged = data.length === 0 ? header : withChecksum(header, data);
    context.logData = encodeLogHeader(logged);
    context.stateMachineData = data.length === 0 ? undefined : data;
    context.stateMachineContext = { kind: 'writeHeader', header: { ...logged, path } };
  }

  #settleProposal(context: TransactionContext): void {
    const request = context.stateMachineContext as FileStoreRequest | undefined;
    if (request?.kind === 'writeHeader') this.#proposals.settled(context, request.header.path);
    if (request?.kind === 'delete') this.#proposals.settled(context, request.path);
  }

  /** The request with its path normalised. Throws a refusal when the log holds what is none. */
  #requestOf(context: TransactionContext): FileStoreRequest {
    if (context.stateMachineContext !== undefined) {
      return context.stateMachineContext as FileStoreRequest;
    }
    try {
      const request = decodeRequest(context.logData);
      if (request.kind === 'writeHeader') {
        const { header } = request;
        return {
          ...request,
          header: { ...header, path: normalizePath(header.path, this.directory) },
        };
      }
      if (request.kind === 'delete') {
        return { ...request, path: normalizePath(request.path, this.directory) };
      }
      return request;
    } catch (error) {
      throw refusal(messageOf(error));
    }
  }

  #applyWrite(index: number, header: WriteHeader): Uint8Array {
    const version = this.#versionFor(index, header);
    version.apply(index, header);
    if (header.close) {
      this.#inBackground(version.file.cut(version.sizeBytes).then(() => version.file.release()));
    }
    return toBinary(
      WriteReplyProtoSchema,
      create(WriteReplyProtoSchema, {
        resolvedPath: new TextEncoder().encode(header.path),
        offset: BigInt(header.offset),
        length: BigInt(header.length),
      }),
    );
  }

  /** The version that a write extends, or starts. Throws a refusal when it does not fit. */
  #versionFor(index: number, header: WriteHeader): FileVersion {
    const { table } = this.#data;
    const present = table.applied(header.path);
    if (header.offset > 0) {
      const file =
        present === undefined
          ? undefined
          : { expected: present.sizeBytes, isClosed: present.isClosed };
      const reason = misfit(header, file);
      if (reason !== undefined || present === undefined) throw refusal(reason ?? '');
      return present;
    }
    if (present !== undefined) this.#discard(present);
    const version = table.find(header.path, index) ?? this.#newVersion(index, header);
    table.confirm(version);
    this.#queries.created(header.path);
    return version;
  }

  /** An empty file; or, when the log is replayed, a file that was deleted later on. */
  #newVersion(index: number, header: WriteHeader): FileVersion {
    const store = this.#data;
    const isEmpty = header.length === 0;
    const version = isEmpty ? store.create(header.path, index) : store.existing(header.path, index);
    if (isEmpty) this.#inBackground(version.file.create());
    store.table.add(version);
    return version;
  }

  #applyDelete(path: string): Uint8Array {
    const version = this.#data.table.applied(path);
    if (version === undefined) throw refusal(`File ${path} not found`);
    this.#discard(version);
    const resolvedPath = new TextEncoder().encode(path);
    return toBinary(DeleteReplyProtoSchema, create(DeleteReplyProtoSchema, { resolvedPath }));
  }

  #discard(version: FileVersion): void {
    this.#inBackground(this.#data.drop(version));
  }

  /**
   * Work whose failure harms nobody now: it leaves a file behind, or shows again when the file is
   * read.
   */
  #inBackground(work: Promise<void>): void {
    work.catch((error: unknown) => {
      this.logger.log('warn', 'file store', { error: toError(error) });
    });
  }
}

function snapshotFileOf(version: FileVersion): SnapshotInfo['files'][number] {
  return { path: version.file.path, sizeBytes: version.sizeBytes, digest: undefined };
}
