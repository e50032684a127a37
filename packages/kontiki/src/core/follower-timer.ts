/**
 * The election timer of a server without office (spec: consensus 2.1). Each step to follower makes
 * a new one, so that an operation that began under an older timer cannot disturb this one.
 */
export class FollowerTimer {
  readonly createdMs: number;
  /** No candidacy before (spec: E-4). */
  readonly graceUntilMs: number;
  lastRpcMs: number;
  deadlineMs: number;
  private timeoutMs: number;
  private open = 0;

  /** `timeoutMs` Infinity: the timer of a listener, which never fires. */
  constructor(nowMs: number, timeoutMs: number, graceUntilMs: number) {
    this.createdMs = nowMs;
    this.graceUntilMs = graceUntilMs;
    this.lastRpcMs = nowMs;
    this.timeoutMs = timeoutMs;
    this.deadlineMs = nowMs + timeoutMs;
  }

  /** Operations of the leader under way. */
  get outstanding(): number {
    return this.open;
  }

  touch(nowMs: number): void {
    this.lastRpcMs = nowMs;
  }

  begin(nowMs: number): void {
    this.lastRpcMs = nowMs;
    this.open++;
  }

  /** Must follow every `begin`, on every path (spec: E-6, H-9). */
  end(nowMs: number): void {
    this.lastRpcMs = nowMs;
    this.open--;
  }

  /** Starts to wait anew. */
  rearm(nowMs: number, timeoutMs: number): void {
    // The timer of a listener never fires.
    if (this.timeoutMs === Number.POSITIVE_INFINITY) return;
    this.timeoutMs = timeoutMs;
    this.deadlineMs = nowMs + timeoutMs;
  }

  /** The leader was heard within `timeoutMinMs` (spec: E-5). */
  heardWithin(timeoutMinMs: number, nowMs: number): boolean {
    return nowMs - this.lastRpcMs < timeoutMinMs;
  }

  /**
   * The deadline is reached: true if the server shall become candidate (spec: E-2, E-3); else the
   * timer is armed again.
   */
  expire(nowMs: number, deviationMs: number, nextTimeoutMs: number): boolean {
    const late = nowMs - this.deadlineMs > deviationMs;
    const silent = nowMs - this.lastRpcMs >= this.timeoutMs;
    if (!late && silent && this.open === 0 && nowMs >= this.graceUntilMs) return true;
    this.timeoutMs = nextTimeoutMs;
    const next = this.lastRpcMs + nextTimeoutMs;
    this.deadlineMs = late || silent || next <= nowMs ? nowMs + nextTimeoutMs : next;
    return false;
  }
}
