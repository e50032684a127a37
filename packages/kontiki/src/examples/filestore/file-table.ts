import { messageOf } from '../../common/errors.js';
import { StorageCorruptedError } from '../../storage/errors.js';
import type { FileVersion, Piece } from './file-version.js';

/** One file of a table, as a snapshot holds it. */
interface SavedFile {
  readonly path: string;
  readonly id: number;
  readonly closed: boolean;
  readonly pieces: readonly Piece[];
}

const FORMAT = 1;

/**
 * All versions of all files: of each path the applied one, and those that writes in the log will
 * make.
 */
export class FileTable {
  /** Ascending by id. */
  readonly #byPath = new Map<string, FileVersion[]>();
  /** Found at start and not confirmed yet; ascending by id. */
  #uncertain: FileVersion[] = [];

  clear(): void {
    this.#byPath.clear();
    this.#uncertain = [];
  }

  /** Versions of a path, ascending by id. */
  versionsOf(path: string): readonly FileVersion[] {
    return this.#byPath.get(path) ?? [];
  }

  /** The version that readers see. */
  applied(path: string): FileVersion | undefined {
    return this.versionsOf(path).find((version) => version.isApplied);
  }

  find(path: string, id: number): FileVersion | undefined {
    return this.versionsOf(path).find((version) => version.id === id);
  }

  *all(): IterableIterator<FileVersion> {
    for (const versions of this.#byPath.values()) yield* versions;
  }

  add(version: FileVersion): void {
    const versions = this.#byPath.get(version.path) ?? [];
    versions.push(version);
    versions.sort((a, b) => a.id - b.id);
    this.#byPath.set(version.path, versions);
    if (version.isCertain) return;
    this.#uncertain.push(version);
    this.#uncertain.sort((a, b) => a.id - b.id);
  }

  remove(version: FileVersion): void {
    const rest = this.versionsOf(version.path).filter((other) => other !== version);
    if (rest.length === 0) this.#byPath.delete(version.path);
    else this.#byPath.set(version.path, rest);
    this.#uncertain = this.#uncertain.filter((other) => other !== version);
  }

  /** The write that made this version is applied. */
  confirm(version: FileVersion): void {
    version.isCertain = true;
    version.isApplied = true;
    this.#uncertain = this.#uncertain.filter((other) => other !== version);
  }

  /**
   * Removes and returns versions found at start that the log turned out not to have, now that
   * everything before `index` is applied.
   */
  takeStale(index: number): FileVersion[] {
    const stale: FileVersion[] = [];
    for (let first = this.#uncertain[0]; first !== undefined && first.id < index; ) {
      this.remove(first);
      stale.push(first);
      first = this.#uncertain[0];
    }
    return stale;
  }

  /** The applied files, as bytes. */
  encode(): Uint8Array {
    const files: SavedFile[] = [];
    for (const { isApplied, path, id, isClosed, pieces } of this.all()) {
      if (isApplied) files.push({ path, id, closed: isClosed, pieces });
    }
    return new TextEncoder().encode(JSON.stringify({ format: FORMAT, files }));
  }

  /**
   * Takes applied files from bytes. Throws StorageCorruptedError when they are not what `encode`
   * gives.
   */
  decode(bytes: Uint8Array, make: (path: string, id: number) => FileVersion): void {
    for (const saved of parseSavedFiles(bytes)) {
      const version = make(saved.path, saved.id);
      for (const piece of saved.pieces) version.addPiece(piece);
      version.isClosed = saved.closed;
      this.add(version);
      this.confirm(version);
    }
  }
}

function parseSavedFiles(bytes: Uint8Array): SavedFile[] {
  let saved: unknown;
  try {
    saved = JSON.parse(new TextDecoder().decode(bytes));
  } catch (error) {
    throw new StorageCorruptedError('file store snapshot', undefined, messageOf(error), error);
  }
  if (!isSavedTable(saved)) {
    throw new StorageCorruptedError('file store snapshot', undefined, 'unknown format');
  }
  return saved.files;
}

function isSavedTable(saved: unknown): saved is { files: SavedFile[] } {
  if (typeof saved !== 'object' || saved === null) return false;
  const { format, files } = saved as { format?: unknown; files?: unknown };
  return format === FORMAT && Array.isArray(files) && files.every(isSavedFile);
}

function isSavedFile(file: unknown): file is SavedFile {
  if (typeof file !== 'object' || file === null) return false;
  const { path, id, closed, pieces } = file as Record<keyof SavedFile, unknown>;
  return (
    typeof path === 'string' &&
    Number.isSafeInteger(id) &&
    typeof closed === 'boolean' &&
    Array.isArray(pieces) &&
    pieces.every((piece) => Array.isArray(piece) && piece.every(Number.isSafeInteger))
  );
}
