import type { VirtualFile } from '../runtime/vfs/types.js';

const WINDOW_BYTES = 1 << 20;

/** A sliding view of a file, for scanning it in order. Bytes are valid until the next `fill`. */
export class FileWindow {
  readonly sizeBytes: number;
  readonly #file: VirtualFile;
  #buffer: Uint8Array = new Uint8Array(0);
  #start = 0;
  #length = 0;

  constructor(file: VirtualFile, sizeBytes: number) {
    this.#file = file;
    this.sizeBytes = sizeBytes;
  }

  /** Whether `count` bytes at `position`, or all that the file has there, are in memory. */
  holds(position: number, count: number): boolean {
    const end = Math.min(position + count, this.sizeBytes);
    return position >= this.#start && end <= this.#start + this.#length;
  }

  /** What is in memory from `position` on. */
  bytesAt(position: number): Uint8Array {
    return this.#buffer.subarray(position - this.#start, this.#length);
  }

  /** Reads at least `count` bytes at `position`, fewer at the end of the file. */
  async fill(position: number, count: number): Promise<void> {
    const wanted = Math.min(Math.max(count, WINDOW_BYTES), Math.max(0, this.sizeBytes - position));
    if (this.#buffer.length < wanted) this.#buffer = new Uint8Array(wanted);
    const got = await this.#file.read(this.#buffer.subarray(0, wanted), position);
    this.#start = position;
    this.#length = got;
    // A file that shrinks under our lock breaks every assumption of the scan.
    if (got < wanted) throw new Error(`file ended at ${position + got}, not at ${this.sizeBytes}`);
  }

  /**
   * Position of the first byte that is not zero, from `position` on; undefined when there is none.
   */
  async firstNonZero(position: number): Promise<number | undefined> {
    for (let at = position; at < this.sizeBytes; ) {
      if (!this.holds(at, 1)) await this.fill(at, WINDOW_BYTES);
      const bytes = this.bytesAt(at);
      const found = bytes.findIndex((byte) => byte !== 0);
      if (found >= 0) return at + found;
      at += bytes.length;
    }
    return undefined;
  }
}
