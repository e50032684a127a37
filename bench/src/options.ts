import { parseArgs } from 'node:util';

/** What all workloads understand. */
export interface BenchOptions {
  /** Mutual TLS between all processes. */
  readonly tls: boolean;
  readonly seconds: number;
  readonly warmupSeconds: number;
  readonly inFlight: number;
  /** Bytes of a value. */
  readonly sizeBytes: number;
  /** Where the servers keep their data; the system's temporary folder when absent. */
  readonly directory: string | undefined;
  /** The result is written here, too. */
  readonly json: string | undefined;
  /** Measures the bare transport and disk in the same run. */
  readonly floors: boolean;
  /** Further keys for the servers. */
  readonly properties: Readonly<Record<string, string>>;
}

/** What a workload does unless told otherwise. */
export interface WorkloadDefaults {
  readonly inFlight: number;
  readonly sizeBytes: number;
  readonly seconds: number;
  readonly warmupSeconds: number;
}

export const OPTIONS_HELP = `
  --seconds N      time that is measured
  --warmup N       seconds before that
  --in-flight N    requests under way at once
  --size BYTES     bytes of a value
  --plain          without TLS
  --directory DIR  where the servers keep their data (a tmpfs, another disk)
  -D KEY=VALUE     a configuration key for the servers, repeatable
  --skip-floors    do not measure the bare transport and disk
  --json FILE      writes the result as JSON, too
`;

/** Throws on an option that is unknown or out of range. */
export function parseOptions(args: readonly string[], defaults: WorkloadDefaults): BenchOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seconds: { type: 'string' },
      warmup: { type: 'string' },
      'in-flight': { type: 'string' },
      size: { type: 'string' },
      plain: { type: 'boolean', default: false },
      directory: { type: 'string' },
      define: { type: 'string', short: 'D', multiple: true, default: [] },
      'skip-floors': { type: 'boolean', default: false },
      json: { type: 'string' },
    },
  });
  return {
    tls: !values.plain,
    seconds: number('--seconds', values.seconds, defaults.seconds, 1),
    warmupSeconds: number('--warmup', values.warmup, defaults.warmupSeconds, 0),
    inFlight: number('--in-flight', values['in-flight'], defaults.inFlight, 1),
    sizeBytes: number('--size', values.size, defaults.sizeBytes, 8),
    directory: values.directory,
    json: values.json,
    floors: !values['skip-floors'],
    properties: Object.fromEntries(values.define.map(definition)),
  };
}

function number(name: string, text: string | undefined, absent: number, least: number): number {
  if (text === undefined) return absent;
  const value = Number(text);
  if (Number.isInteger(value) && value >= least) return value;
  throw new Error(`${name} ${text}: not a whole number from ${least} on`);
}

function definition(text: string): [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new Error(`-D ${text}: not of the form KEY=VALUE`);
  return [text.slice(0, at), text.slice(at + 1)];
}
