interface Id16 {
  readonly bytes: Uint8Array;
}

const PLACES = 64;

/**
 * Ids that were met lately: a stream names the same client and group in every request, and an id is
 * costly to make. A later id takes the place of an earlier one, so this stays small.
 */
export class RecentIds<T extends Id16> {
  readonly #ids: (T | undefined)[] = new Array(PLACES).fill(undefined);
  readonly #make: (bytes: Uint8Array) => T;

  constructor(make: (bytes: Uint8Array) => T) {
    this.#make = make;
  }

  /** The id of 16 bytes, which are copied when it is made. */
  of(bytes: Uint8Array): T {
    const place = (bytes[15] ?? 0) % PLACES;
    const known = this.#ids[place];
    if (known !== undefined && isSame(known.bytes, bytes)) return known;
    const id = this.#make(bytes);
    this.#ids[place] = id;
    return id;
  }
}

function isSame(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 0; i < 16; i++) if (a[i] !== b[i]) return false;
  return true;
}
