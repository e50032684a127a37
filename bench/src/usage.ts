import { type ProcessCluster, type ProcessUsage, readProcessUsage } from 'kontiki/testing';

/** What a process used while it was measured. */
export interface MeasuredUsage {
  /** `leader`, `follower` or `client`. */
  readonly role: string;
  readonly cpuSeconds: number;
  /** At the end. */
  readonly memoryBytes: number;
  /** At its largest since its start. */
  readonly peakMemoryBytes: number;
}

/** Watches the servers and this process, the client. */
export class UsageMeter {
  readonly #roles = new Map<number, string>();
  readonly #begin = new Map<number, ProcessUsage>();
  readonly #end = new Map<number, ProcessUsage>();

  constructor(cluster: ProcessCluster, leaderId: string) {
    for (const { id } of cluster.peers) {
      this.#roles.set(cluster.server(id).pid, id === leaderId ? 'leader' : 'follower');
    }
    this.#roles.set(process.pid, 'client');
  }

  /** The time that counts begins or ends. */
  note(phase: 'begin' | 'end'): void {
    const usages = phase === 'begin' ? this.#begin : this.#end;
    for (const pid of this.#roles.keys()) {
      const usage = readProcessUsage(pid);
      if (usage !== undefined) usages.set(pid, usage);
    }
  }

  /** Empty where the system does not tell. */
  results(): MeasuredUsage[] {
    return [...this.#roles].flatMap(([pid, role]) => {
      const begin = this.#begin.get(pid);
      const end = this.#end.get(pid);
      if (begin === undefined || end === undefined) return [];
      const { memoryBytes, peakMemoryBytes } = end;
      return [
        { role, cpuSeconds: end.cpuSeconds - begin.cpuSeconds, memoryBytes, peakMemoryBytes },
      ];
    });
  }
}

/** CPU seconds of the servers together. */
export function serverCpuSeconds(usages: readonly MeasuredUsage[]): number {
  return usages.reduce((sum, { role, cpuSeconds }) => {
    return role === 'client' ? sum : sum + cpuSeconds;
  }, 0);
}
