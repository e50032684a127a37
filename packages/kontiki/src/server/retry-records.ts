import type { CallId } from '../protocol/ids.js';
import type { CommitInfo } from '../protocol/requests.js';

/** What became of a write: enough to answer a retry with the same reply. */
export interface WriteOutcome {
  readonly logIndex: number;
  /** Result of the state machine; undefined when it returned nothing or failed. */
  readonly message: Uint8Array | undefined;
  /** Set when the state machine failed the write. */
  readonly failure: { readonly causeClass: string; readonly causeMessage: string } | undefined;
  readonly commitInfos: readonly CommitInfo[];
}

/** Names a record; unique over the life of a store. */
export type RecordAddress = number;

interface Chunk {
  readonly id: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  used: number;
  live: number;
  readonly startedMs: number;
  lastWriteMs: number;
  /** Lists of commit infos; records name them by position. */
  readonly commitInfos: (readonly CommitInfo[])[];
}

const ADDRESS_BASE = 2 ** 26;
const HEAD_BYTES = 30;
const FIRST_CHUNK_BYTES = 2 * 1024;
const LARGEST_CHUNK_BYTES = 256 * 1024;

const HAS_MESSAGE = 1;
const HAS_FAILURE = 2;
const BIG_CALL_ID = 4;

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/**
 * Outcomes of writes, packed into chunks of bytes, because a follower keeps one for each entry of
 * the last minute (design: section 3). Chunks are dropped whole when all that is in them is old, or
 * forgotten.
 *
 * Record: client number (u32), call id (8 bytes), log index (f64), position of the commit infos
 * (u32), flags (u8), a spare byte, length (u32), bytes.
 */
export class RetryRecords {
  readonly #chunks = new Map<number, Chunk>();
  #current: Chunk | undefined;
  #nextId = 0;
  #chunkBytes = FIRST_CHUNK_BYTES;
  readonly #generationMs: number;

  constructor(expiryMs: number) {
    this.#generationMs = Math.max(1, expiryMs / 8);
  }

  /** Bytes that all chunks take. */
  get sizeBytes(): number {
    let sum = 0;
    for (const chunk of this.#chunks.values()) sum += chunk.bytes.length;
    return sum;
  }

  write(client: number, callId: CallId, outcome: WriteOutcome, nowMs: number): RecordAddress {
    const body = bodyOf(outcome);
    const chunk = this.#chunkFor(HEAD_BYTES + body.length, nowMs);
    const at = chunk.used;
    const { view } = chunk;
    view.setUint32(at, client);
    if (typeof callId === 'number') view.setFloat64(at + 4, callId);
    else view.setBigInt64(at + 4, callId);
    view.setFloat64(at + 12, outcome.logIndex);
    if (chunk.commitInfos.at(-1) !== outcome.commitInfos) {
      chunk.commitInfos.push(outcome.commitInfos);
    }
    view.setUint32(at + 20, chunk.commitInfos.length - 1);
    const flags =
      (outcome.message === undefined ? 0 : HAS_MESSAGE) |
      (outcome.failure === undefined ? 0 : HAS_FAILURE) |
      (typeof callId === 'bigint' ? BIG_CALL_ID : 0);
    view.setUint8(at + 24, flags);
    view.setUint32(at + 26, body.length);
    chunk.bytes.set(body, at + HEAD_BYTES);
    chunk.used += HEAD_BYTES + body.length;
    chunk.live++;
    chunk.lastWriteMs = nowMs;
    return chunk.id * ADDRESS_BASE + at;
  }

  read(address: RecordAddress): WriteOutcome | undefined {
    const chunk = this.#chunks.get(Math.floor(address / ADDRESS_BASE));
    if (chunk === undefined) return undefined;
    const at = address % ADDRESS_BASE;
    const flags = chunk.view.getUint8(at + 24);
    const start = at + HEAD_BYTES;
    const body = chunk.bytes.subarray(start, start + chunk.view.getUint32(at + 26));
    return {
      logIndex: chunk.view.getFloat64(at + 12),
      message: (flags & HAS_MESSAGE) === 0 ? undefined : body.slice(),
      failure: (flags & HAS_FAILURE) === 0 ? undefined : failureOf(body),
      commitInfos: chunk.commitInfos[chunk.view.getUint32(at + 20)] ?? [],
    };
  }

  /** The record is needed no more; its chunk goes with its last record. */
  forget(address: RecordAddress): void {
    const chunk = this.#chunks.get(Math.floor(address / ADDRESS_BASE));
    if (chunk === undefined) return;
    chunk.live--;
    if (chunk.live === 0 && chunk !== this.#current) this.#chunks.delete(chunk.id);
  }

  /** Drops the chunks last written before `beforeMs`, telling of each record in them. */
  expire(
    beforeMs: number,
    each: (client: number, callId: CallId, address: RecordAddress) => void,
  ): void {
    for (const chunk of this.#chunks.values()) {
      if (chunk.lastWriteMs >= beforeMs) break;
      this.#chunks.delete(chunk.id);
      if (chunk === this.#current) this.#current = undefined;
      let at = 0;
      while (at < chunk.used) {
        const big = (chunk.view.getUint8(at + 24) & BIG_CALL_ID) !== 0;
        const callId = big ? chunk.view.getBigInt64(at + 4) : chunk.view.getFloat64(at + 4);
        each(chunk.view.getUint32(at), callId, chunk.id * ADDRESS_BASE + at);
        at += HEAD_BYTES + chunk.view.getUint32(at + 26);
      }
    }
    if (this.#chunks.size === 0) this.#chunkBytes = FIRST_CHUNK_BYTES;
  }

  #chunkFor(sizeBytes: number, nowMs: number): Chunk {
    const current = this.#current;
    if (
      current !== undefined &&
      current.used + sizeBytes <= current.bytes.length &&
      nowMs - current.startedMs < this.#generationMs
    ) {
      return current;
    }
    if (current !== undefined && current.live === 0) this.#chunks.delete(current.id);
    const bytes = new Uint8Array(Math.max(sizeBytes, this.#chunkBytes));
    this.#chunkBytes = Math.min(LARGEST_CHUNK_BYTES, this.#chunkBytes * 2);
    const chunk: Chunk = {
      id: this.#nextId++,
      bytes,
      view: new DataView(bytes.buffer),
      used: 0,
      live: 0,
      startedMs: nowMs,
      lastWriteMs: nowMs,
      commitInfos: [],
    };
    this.#chunks.set(chunk.id, chunk);
    this.#current = chunk;
    return chunk;
  }
}

const NO_BYTES = new Uint8Array(0);

function bodyOf(outcome: WriteOutcome): Uint8Array {
  if (outcome.failure !== undefined) {
    return encoder.encode(
      JSON.stringify([outcome.failure.causeClass, outcome.failure.causeMessage]),
    );
  }
  return outcome.message ?? NO_BYTES;
}

function failureOf(body: Uint8Array): { causeClass: string; causeMessage: string } {
  const [causeClass, causeMessage] = JSON.parse(decoder.decode(body)) as [string, string];
  return { causeClass, causeMessage };
}
