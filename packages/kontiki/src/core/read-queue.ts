interface PendingRead {
  readonly readId: number;
  readonly readIndex: number;
  readonly sequence: number;
  readonly deadlineMs: number;
}

/**
 * Reads that wait for the confirmation that their leader still is one. They are numbered; a
 * follower confirms all reads that were registered before the request was sent which it answers. So
 * each read is confirmed by messages that left after it arrived (spec: consensus 7.4, H-3), and
 * many share a round.
 */
export class ReadQueue {
  private waiting: PendingRead[] = [];
  private registered = 0;

  /** Number of reads registered so far. */
  get sequence(): number {
    return this.registered;
  }

  get size(): number {
    return this.waiting.length;
  }

  add(readId: number, readIndex: number, deadlineMs: number): void {
    this.registered++;
    this.waiting.push({ readId, readIndex, sequence: this.registered, deadlineMs });
  }

  /** Takes the reads up to a sequence number that a majority confirmed. */
  takeConfirmed(sequence: number): readonly PendingRead[] {
    return this.takeWhile((read) => read.sequence <= sequence);
  }

  takeExpired(nowMs: number): readonly PendingRead[] {
    return this.takeWhile((read) => read.deadlineMs <= nowMs);
  }

  takeAll(): readonly PendingRead[] {
    return this.takeWhile(() => true);
  }

  private takeWhile(test: (read: PendingRead) => boolean): readonly PendingRead[] {
    const { waiting } = this;
    let taken = 0;
    while (taken < waiting.length && test(waiting[taken] as PendingRead)) taken++;
    return taken === 0 ? [] : waiting.splice(0, taken);
  }
}
