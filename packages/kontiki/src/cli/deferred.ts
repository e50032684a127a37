/** A promise and its ends. It may be rejected without anybody waiting for it. */
export interface Deferred<T> {
  readonly promise: Promise<T>;
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** `Promise.withResolvers`, which Node 20 lacks. */
export function createDeferred<T = void>(): Deferred<T> {
  let ends: Pick<Deferred<T>, 'resolve' | 'reject'> | undefined;
  const promise = new Promise<T>((resolve, reject) => {
    ends = { resolve, reject };
  });
  promise.catch(() => undefined);
  return {
    promise,
    resolve: (value) => ends?.resolve(value),
    reject: (error) => ends?.reject(error),
  };
}
