import { StateMachineException } from '../../protocol/exceptions.js';
import type { TransactionContext } from '../../statemachine/types.js';
import type { FileTable } from './file-table.js';
import type { WriteHeader } from './messages.js';

interface ProposedFile {
  readonly exists: boolean;
  readonly end: number;
  readonly isClosing: boolean;
  /** The last proposal that changed it. */
  readonly by: TransactionContext;
}

/**
 * An error of the file store, as clients get it. It is no reason for a leader to give up its
 * office.
 */
export function refusal(message: string, cause?: unknown): StateMachineException {
  return new StateMachineException(undefined, 'java.io.IOException', message, {
    leaderShouldStepDown: false,
    cause,
  });
}

/**
 * Why a write does not fit the file that it is for; undefined when it does (spec: examples 5.3).
 */
export function misfit(
  header: WriteHeader,
  file: { readonly expected: number; readonly isClosed: boolean } | undefined,
): string | undefined {
  const { path, offset } = header;
  if (offset === 0) return undefined;
  if (file === undefined) return `File ${path} not found`;
  if (file.isClosed) return `File ${path} is closed`;
  if (offset === file.expected) return undefined;
  const sizes = `offset = ${offset} != writeSize = ${file.expected}`;
  return `Offset/size mismatched: ${sizes}, path=${path}`;
}

/**
 * The files as they will be when everything that the leader has proposed is applied: requests that
 * do not fit are refused before they are logged.
 */
export class Proposals {
  readonly #table: FileTable;
  readonly #files = new Map<string, ProposedFile>();

  constructor(table: FileTable) {
    this.#table = table;
  }

  /** Throws a StateMachineException when the write does not fit. */
  write(context: TransactionContext, header: WriteHeader): void {
    const known = this.#fileAt(header.path);
    const file = known?.exists ? { expected: known.end, isClosed: known.isClosing } : undefined;
    const reason = misfit(header, file);
    if (reason !== undefined) throw refusal(reason);
    const end = header.offset + header.length;
    this.#files.set(header.path, { exists: true, end, isClosing: header.close, by: context });
  }

  /** Throws a StateMachineException when there is no such file. */
  delete(context: TransactionContext, path: string): void {
    if (!this.#fileAt(path)?.exists) throw refusal(`File ${path} not found`);
    this.#files.set(path, { exists: false, end: 0, isClosing: false, by: context });
  }

  /** The transaction is applied or cancelled. */
  settled(context: TransactionContext, path: string): void {
    if (this.#files.get(path)?.by === context) this.#files.delete(path);
  }

  clear(): void {
    this.#files.clear();
  }

  #fileAt(path: string): Omit<ProposedFile, 'by'> | undefined {
    const proposed = this.#files.get(path);
    if (proposed !== undefined) return proposed;
    const version = this.#table.versionsOf(path).findLast((file) => file.isCertain);
    if (version === undefined) return undefined;
    return { exists: true, end: version.expectedOffset, isClosing: version.isClosing };
  }
}
