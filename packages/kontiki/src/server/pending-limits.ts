const MEGABYTE = 1024 * 1024;

/** Why a permit was refused. */
export type PermitRefusal = 'elements' | 'bytes' | 'closed';

/** Bytes as whole megabytes, rounded up; none count as one (spec: consensus 7.3). */
function megabytesOf(bytes: number): number {
  return bytes === 0 ? 1 : Math.ceil(bytes / MEGABYTE);
}

/**
 * Limits of the writes that a leader has pending (spec: consensus 7.3, Appendix A): a number of
 * elements, and a size that is counted in whole megabytes as Ratis counts it.
 */
export class PendingLimits {
  readonly #elementLimit: number;
  readonly #megabyteLimit: number;
  #elements = 0;
  #bytes = 0;
  #megabytes = 0;
  #closed = false;
  /** Refusals since the start, for metrics. */
  elementRefusals = 0;
  byteRefusals = 0;

  constructor(elementLimit: number, byteLimit: number) {
    this.#elementLimit = elementLimit;
    this.#megabyteLimit = Math.floor(byteLimit / MEGABYTE);
  }

  get elements(): number {
    return this.#elements;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Megabytes that are held now. */
  get megabytes(): number {
    return this.#megabytes;
  }

  /** Takes a permit for a request of `sizeBytes`, or says what was short. */
  acquire(sizeBytes: number): PermitRefusal | undefined {
    if (this.#closed) return 'closed';
    if (this.#elements >= this.#elementLimit) {
      this.elementRefusals++;
      return 'elements';
    }
    const needed = megabytesOf(sizeBytes);
    if (this.#megabytes + needed > this.#megabyteLimit) {
      this.byteRefusals++;
      return 'bytes';
    }
    const grown = megabytesOf(this.#bytes + sizeBytes) - megabytesOf(this.#bytes);
    this.#elements++;
    this.#bytes += sizeBytes;
    this.#megabytes += Math.min(needed, grown);
    return undefined;
  }

  /** Gives the permit of a request of `sizeBytes` back. */
  release(sizeBytes: number): void {
    const shrunk = megabytesOf(this.#bytes) - megabytesOf(this.#bytes - sizeBytes);
    this.#elements--;
    this.#bytes -= sizeBytes;
    this.#megabytes -= shrunk;
  }

  /** From now on nothing can be acquired: the leader stops. */
  close(): void {
    this.#closed = true;
  }
}
