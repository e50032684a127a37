import { EntryKind } from '../../proto/wire/types.js';
import type { RaftConfiguration } from '../../protocol/configuration.js';
import type { RaftPeerId } from '../../protocol/ids.js';
import type { TermIndex } from '../../protocol/term-index.js';
import type { EngineState, EntryHeader } from '../types.js';

/** An entry as a test sees it: `payload` tells state machine entries apart. */
export interface SimEntry extends EntryHeader {
  readonly payload: string;
}

type LogWrite =
  | { readonly kind: 'truncate'; readonly from: number }
  | { readonly kind: 'append'; readonly entry: SimEntry; readonly generation: number };

export interface MetadataWrite {
  readonly sequence: number;
  readonly term: number;
  readonly votedFor: RaftPeerId | undefined;
}

/** A server's log and metadata: what is written, and how much of it would survive a crash. */
export class SimDisk {
  term = 0;
  votedFor: RaftPeerId | undefined;
  /** Survives. */
  durable: SimEntry[] = [];
  /** With what is still to be flushed. */
  log: SimEntry[] = [];
  writes: LogWrite[] = [];
  metadataWrites: MetadataWrite[] = [];

  append(entry: SimEntry, generation: number): void {
    if (entry.index !== this.log.length) throw new Error(`gap before entry ${entry.index}`);
    this.log.push(entry);
    this.writes.push({ kind: 'append', entry, generation });
  }

  truncate(from: number): void {
    this.log.length = from;
    this.writes.push({ kind: 'truncate', from });
  }

  /**
   * Makes the first `count` writes durable; the last entry among them with its generation, if there
   * is one.
   */
  flush(count: number): { readonly flushed: TermIndex; readonly generation: number } | undefined {
    let last: { flushed: TermIndex; generation: number } | undefined;
    for (const write of this.writes.splice(0, count)) {
      if (write.kind === 'truncate') {
        this.durable.length = write.from;
      } else {
        this.durable.push(write.entry);
        const { term, index } = write.entry;
        last = { flushed: { term, index }, generation: write.generation };
      }
    }
    return last;
  }

  persistNext(): MetadataWrite | undefined {
    const write = this.metadataWrites.shift();
    if (write === undefined) return undefined;
    this.term = write.term;
    this.votedFor = write.votedFor;
    return write;
  }

  /** Loses what is not durable, except the first `kept` log writes. */
  crash(kept: number): void {
    this.flush(kept);
    this.writes = [];
    this.metadataWrites = [];
    this.log = [...this.durable];
  }

  /** What a server finds at start. */
  state(initial: RaftConfiguration): EngineState {
    const runs: TermIndex[] = [];
    const configurations: RaftConfiguration[] = [initial];
    let recorded = -1;
    for (const { term, index, kind, configuration, metadataCommitIndex } of this.log) {
      if (runs.at(-1)?.term !== term) runs.push({ term, index });
      if (configuration !== undefined) configurations.push(configuration);
      if (kind === EntryKind.METADATA) recorded = metadataCommitIndex ?? -1;
    }
    return {
      term: this.term,
      votedFor: this.votedFor,
      startIndex: 0,
      lastIndex: this.log.length - 1,
      termRuns: runs,
      snapshot: undefined,
      commitIndex: recorded,
      lastMetadataCommitIndex: recorded,
      configurations,
      kindAt: (index) => this.log[index]?.kind ?? EntryKind.NONE,
    };
  }
}
