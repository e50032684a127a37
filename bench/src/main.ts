/**
 * Measures groups of three server processes on this machine.
 *
 *   npm run bench -- NAME [options]
 */
import { type BenchOptions, OPTIONS_HELP, parseOptions, type WorkloadDefaults } from './options.js';
import { publish } from './report.js';
import { runWorkload, type Workload } from './run.js';
import { FILES_DEFAULTS, filesWorkload } from './workloads/files.js';
import { WRITES_DEFAULTS, writesWorkload } from './workloads/writes.js';

interface Entry {
  readonly help: string;
  readonly defaults: WorkloadDefaults;
  readonly make: (options: BenchOptions) => Workload;
}

const WORKLOADS: Readonly<Record<string, Entry>> = {
  writes: {
    help: 'values of 128 bytes, 256 in flight, durable',
    defaults: WRITES_DEFAULTS,
    make: writesWorkload,
  },
  files: {
    help: 'entries of 1 MiB as data of the file store, 8 in flight, durable',
    defaults: FILES_DEFAULTS,
    make: filesWorkload,
  },
};

function usage(): string {
  const names = Object.entries(WORKLOADS).map(([name, { help }]) => `  ${name.padEnd(9)}${help}`);
  return `npm run bench -- NAME [options]\n\n${names.join('\n')}\n${OPTIONS_HELP}`;
}

async function main(args: readonly string[]): Promise<void> {
  const [name = '', ...rest] = args;
  const entry = WORKLOADS[name];
  if (entry === undefined) {
    console.error(name === '' ? usage() : `bench: there is no workload ${name}\n\n${usage()}`);
    process.exitCode = 2;
    return;
  }
  const options = parseOptions(rest, entry.defaults);
  publish(await runWorkload(entry.make(options), options), options.json);
}

// Ending through `exit` takes the servers along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
main(process.argv.slice(2)).catch((error: unknown) => {
  console.error(`bench: ${error instanceof Error ? error.message : String(error)}`);
  process.exit(1);
});
