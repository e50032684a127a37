import type { Runtime, Timer } from '../common/runtime.js';

/** Something that is to be woken at a time; lives in one scheduler. */
export interface Wakeup {
  /** Called once the time is reached; it has no time set then. */
  onWakeup(nowMs: number): void;
  /** For the scheduler only: the time, and the place in its heap (-1: none). */
  wakeAtMs: number;
  heapIndex: number;
}

/** A timer that is late by more than this lets input that waited be read first (spec: E-2, 1.7). */
const LATE_MS = 10;

/**
 * One timer for all divisions of a server: a heap of wake-ups, and a single timer of the runtime
 * for the earliest. A wake-up that comes late, because something blocked the thread, is put off
 * until the input that waited has been read.
 */
export class Scheduler {
  readonly #runtime: Runtime;
  readonly #heap: Wakeup[] = [];
  #timer: Timer | undefined;
  #timerAtMs = Number.POSITIVE_INFINITY;
  #deferred = false;
  #closed = false;

  constructor(runtime: Runtime) {
    this.#runtime = runtime;
  }

  nowMs(): number {
    return this.#runtime.clock.nowMs();
  }

  /** Sets, moves, or (Infinity) takes away the time of `wakeup`. */
  set(wakeup: Wakeup, atMs: number): void {
    if (this.#closed || (wakeup.heapIndex >= 0 && wakeup.wakeAtMs === atMs)) return;
    if (atMs === Number.POSITIVE_INFINITY) {
      this.clear(wakeup);
      return;
    }
    wakeup.wakeAtMs = atMs;
    if (wakeup.heapIndex < 0) {
      wakeup.heapIndex = this.#heap.length;
      this.#heap.push(wakeup);
    }
    this.#up(wakeup.heapIndex);
    this.#down(wakeup.heapIndex);
    this.#arm();
  }

  clear(wakeup: Wakeup): void {
    const index = wakeup.heapIndex;
    if (index < 0) return;
    wakeup.heapIndex = -1;
    const last = this.#heap.pop();
    if (last === undefined || last === wakeup) return;
    this.#heap[index] = last;
    last.heapIndex = index;
    this.#up(index);
    this.#down(last.heapIndex);
  }

  close(): void {
    this.#closed = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const wakeup of this.#heap) wakeup.heapIndex = -1;
    this.#heap.length = 0;
  }

  #arm(): void {
    const first = this.#heap[0];
    if (first === undefined || this.#deferred) return;
    if (this.#timer !== undefined && this.#timerAtMs <= first.wakeAtMs) return;
    this.#timer?.cancel();
    this.#timerAtMs = first.wakeAtMs;
    const delayMs = Math.max(0, first.wakeAtMs - this.nowMs());
    this.#timer = this.#runtime.timers.schedule(delayMs, () => this.#fired());
  }

  #fired(): void {
    this.#timer = undefined;
    const lateMs = this.nowMs() - this.#timerAtMs;
    this.#timerAtMs = Number.POSITIVE_INFINITY;
    if (lateMs <= LATE_MS) {
      this.#wake();
      return;
    }
    this.#deferred = true;
    this.#runtime.timers.defer(() => {
      this.#deferred = false;
      if (!this.#closed) this.#wake();
    });
  }

  #wake(): void {
    const nowMs = this.nowMs();
    const due: Wakeup[] = [];
    for (let first = this.#heap[0]; first !== undefined && first.wakeAtMs <= nowMs; ) {
      this.clear(first);
      due.push(first);
      first = this.#heap[0];
    }
    for (const wakeup of due) wakeup.onWakeup(nowMs);
    this.#arm();
  }

  #swap(a: number, b: number): void {
    const x = this.#heap[a];
    const y = this.#heap[b];
    if (x === undefined || y === undefined) return;
    this.#heap[a] = y;
    this.#heap[b] = x;
    y.heapIndex = a;
    x.heapIndex = b;
  }

  #before(a: number, b: number): boolean {
    const x = this.#heap[a];
    const y = this.#heap[b];
    return x !== undefined && y !== undefined && x.wakeAtMs < y.wakeAtMs;
  }

  #up(from: number): void {
    let index = from;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      if (!this.#before(index, parent)) return;
      this.#swap(index, parent);
      index = parent;
    }
  }

  #down(from: number): void {
    let index = from;
    for (;;) {
      const left = 2 * index + 1;
      const child = this.#before(left + 1, left) ? left + 1 : left;
      if (!this.#before(child, index)) return;
      this.#swap(index, child);
      index = child;
    }
  }
}
