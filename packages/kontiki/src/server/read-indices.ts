import {
  type NotLeaderException,
  type RaftException,
  ReadException,
} from '../protocol/exceptions.js';
import type { DivisionParts } from './division-parts.js';

/** Gets a read index, or the reason why there is none. */
export type ReadIndexCallback = (
  readIndex: number | undefined,
  error: RaftException | undefined,
) => void;

/**
 * Read indices at the leader: reads of one turn share one confirmation of the leadership, which
 * always starts after they arrived (spec: consensus 7.4, H-3).
 */
export class ReadIndices {
  readonly #parts: DivisionParts;
  #gathered: ReadIndexCallback[] = [];
  readonly #rounds = new Map<number, ReadIndexCallback[]>();
  #nextId = 1;

  constructor(parts: DivisionParts) {
    this.#parts = parts;
  }

  ask(callback: ReadIndexCallback): void {
    this.#gathered.push(callback);
    if (this.#gathered.length === 1) this.#parts.settleLater();
  }

  /** Starts a round for what was gathered. True when the engine was asked. */
  start(nowMs: number): boolean {
    if (this.#gathered.length === 0) return false;
    const id = this.#nextId++;
    this.#rounds.set(id, this.#gathered);
    this.#gathered = [];
    this.#parts.engine.readIndex(id, nowMs);
    return true;
  }

  ready(readId: number, readIndex: number): void {
    for (const callback of this.#take(readId)) callback(readIndex, undefined);
  }

  failed(readId: number, reason: 'notLeader' | 'timeout'): void {
    const error =
      reason === 'notLeader'
        ? this.#notLeader()
        : new ReadException(`${this.#parts.memberId}: no majority confirmed the leader in time`);
    for (const callback of this.#take(readId)) callback(undefined, error);
  }

  /** The division closes. */
  failAll(): void {
    const waiting = [...this.#gathered, ...[...this.#rounds.values()].flat()];
    this.#gathered = [];
    this.#rounds.clear();
    const error = this.#notLeader();
    for (const callback of waiting) callback(undefined, error);
  }

  #take(readId: number): ReadIndexCallback[] {
    const callbacks = this.#rounds.get(readId) ?? [];
    this.#rounds.delete(readId);
    return callbacks;
  }

  #notLeader(): NotLeaderException {
    const { replies, engine, isRunning } = this.#parts;
    return replies.notLeader(isRunning(), engine.leaderId, engine.configuration);
  }
}
