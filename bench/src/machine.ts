import { execFileSync } from 'node:child_process';
import { cpus, release, totalmem } from 'node:os';

/** What a result was measured on. */
export interface MachineLine {
  readonly node: string;
  readonly system: string;
  readonly processors: string;
  readonly memoryGibibytes: number;
  /** Absent outside of a repository. */
  readonly commit: string | undefined;
  readonly date: string;
}

function commit(): string | undefined {
  try {
    return execFileSync('git', ['describe', '--always', '--dirty'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch {
    return undefined;
  }
}

export function machineLine(): MachineLine {
  const processors = cpus();
  return {
    node: process.version,
    system: `${process.platform} ${release()} ${process.arch}`,
    processors: `${processors.length} x ${processors[0]?.model ?? 'unknown'}`,
    memoryGibibytes: Math.round(totalmem() / 2 ** 30),
    commit: commit(),
    date: new Date().toISOString(),
  };
}
