import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/** A package with native code, or the error of loading it: not every platform has a build. */
export type NativeModule<T> =
  | { readonly module: T; readonly error?: undefined }
  | { readonly module?: undefined; readonly error: unknown };

/** Loads a package with native code. The caller names the shape that it relies on. */
export function loadNativeModule<T>(name: string): NativeModule<T> {
  try {
    return { module: require(name) as T };
  } catch (error) {
    return { error };
  }
}
