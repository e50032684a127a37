import { readFileSync } from 'node:fs';

/** What a process has used so far. Linux only. */
export interface ProcessUsage {
  /** User and system time of all its threads. */
  readonly cpuSeconds: number;
  /** Resident memory now. */
  readonly memoryBytes: number;
  /** Resident memory at its largest. */
  readonly peakMemoryBytes: number;
}

/**
 * Linux reports times of processes in hundredths of a second, on every architecture Node runs on.
 */
const TICKS_PER_SECOND = 100;

function kibibytes(status: string, field: string): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(status);
  return Number(match?.[1] ?? 0) * 1024;
}

/** The usage of a process, or undefined when it is gone or the system has no `/proc`. */
export function readProcessUsage(pid: number): ProcessUsage | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    // The second field, the name in brackets, may hold blanks.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
      memoryBytes: kibibytes(status, 'VmRSS'),
      peakMemoryBytes: kibibytes(status, 'VmHWM'),
    };
  } catch {
    return undefined;
  }
}
