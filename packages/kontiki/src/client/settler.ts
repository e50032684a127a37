/** The two ends of a promise that is settled from elsewhere, and the caller's AbortSignal, once. */
export class Settler<T> {
  readonly promise: Promise<T>;
  #resolve: (value: T) => void = () => undefined;
  #reject: (reason: Error) => void = () => undefined;
  #signal: AbortSignal | undefined;
  #onAbort: (() => void) | undefined;
  #settled = false;

  constructor() {
    this.promise = new Promise<T>((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  /** Rejects with the signal's reason as soon as it is aborted, and calls `onAbort`. */
  listenTo(signal: AbortSignal, onAbort: (() => void) | undefined): void {
    const abort = () => {
      if (this.#settled) return;
      this.reject(abortReason(signal));
      onAbort?.();
    };
    if (signal.aborted) {
      abort();
      return;
    }
    this.#signal = signal;
    this.#onAbort = abort;
    signal.addEventListener('abort', abort, { once: true });
  }

  resolve(value: T): void {
    if (this.#settled) return;
    this.#settle();
    this.#resolve(value);
  }

  reject(error: Error): void {
    if (this.#settled) return;
    this.#settle();
    this.#reject(error);
  }

  #settle(): void {
    this.#settled = true;
    if (this.#signal === undefined || this.#onAbort === undefined) return;
    this.#signal.removeEventListener('abort', this.#onAbort);
    this.#signal = undefined;
    this.#onAbort = undefined;
  }
}

/** The reason of an aborted signal: an AbortError unless the user gave another Error. */
function abortReason(signal: AbortSignal): Error {
  const reason: unknown = signal.reason;
  return reason instanceof Error ? reason : new DOMException(String(reason), 'AbortError');
}
