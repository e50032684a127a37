/** Where a command writes: results to `out`, everything else to `err`. */
export interface ConsoleIo {
  readonly out: OutputStream;
  readonly err: OutputStream;
}

export interface OutputStream {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

/** The streams of the process. */
export function processIo(): ConsoleIo {
  return { out: process.stdout, err: process.stderr };
}
