import { writeFileSync } from 'node:fs';
import type { Floors } from './floors.js';
import type { LoadResult } from './load.js';
import { type MachineLine, machineLine } from './machine.js';
import type { BenchOptions } from './options.js';
import { type MeasuredUsage, serverCpuSeconds } from './usage.js';

/** A run, as it is written to a JSON file. */
export interface Report {
  readonly workload: string;
  readonly machine: MachineLine;
  readonly options: Omit<BenchOptions, 'json'>;
  readonly count: number;
  readonly seconds: number;
  readonly perSecond: number;
  readonly megabytesPerSecond: number;
  readonly latencyMs: {
    readonly p50: number;
    readonly p99: number;
    readonly p999: number;
    readonly max: number;
    readonly mean: number;
  };
  readonly processes: readonly MeasuredUsage[];
  readonly serverCpuMicrosPerRequest: number;
  readonly clientCpuMicrosPerRequest: number;
  readonly serverCpuSecondsPerGigabyte: number;
  readonly floors: Floors | undefined;
  /** How often a floor holds what was measured, or the other way round: 1 is the floor itself. */
  readonly ratios: Readonly<Record<string, number>>;
}

/** Puts the results of a run together. */
export function makeReport(
  workload: string,
  options: BenchOptions,
  load: LoadResult,
  processes: readonly MeasuredUsage[],
  floors: Floors | undefined,
): Report {
  const { json: _json, ...kept } = options;
  const { count, seconds, perSecond, latencyMs } = load;
  const bytes = count * options.sizeBytes;
  const serverSeconds = serverCpuSeconds(processes);
  const client = processes.find(({ role }) => role === 'client');
  const megabytesPerSecond = bytes / seconds / 1e6;
  return {
    workload,
    machine: machineLine(),
    options: kept,
    count,
    seconds,
    perSecond,
    megabytesPerSecond,
    latencyMs: {
      p50: latencyMs.percentile(0.5),
      p99: latencyMs.percentile(0.99),
      p999: latencyMs.percentile(0.999),
      max: latencyMs.max,
      mean: latencyMs.mean,
    },
    processes,
    serverCpuMicrosPerRequest: (serverSeconds * 1e6) / count,
    clientCpuMicrosPerRequest: ((client?.cpuSeconds ?? 0) * 1e6) / count,
    serverCpuSecondsPerGigabyte: serverSeconds / (bytes / 1e9),
    floors,
    ratios: floors === undefined ? {} : ratiosOf(perSecond, megabytesPerSecond, load, floors),
  };
}

function ratiosOf(
  perSecond: number,
  megabytesPerSecond: number,
  load: LoadResult,
  floors: Floors,
): Record<string, number> {
  return {
    requestsToTransportMessages: perSecond / floors.transport.messagesPerSecond,
    bytesToTransportBytes: megabytesPerSecond / floors.transport.megabytesPerSecond,
    bytesToDiskBytes: megabytesPerSecond / floors.disk.megabytesPerSecond,
    p50ToFdatasyncP50: load.latencyMs.percentile(0.5) / floors.fdatasync.p50Ms,
  };
}

const whole = (value: number) => Math.round(value).toLocaleString('en-US');
const mebibytes = (bytes: number) => `${whole(bytes / 2 ** 20)} MiB`;
const percent = (ratio: number) => `${(ratio * 100).toFixed(1)} %`;

/** Prints a report for people, and writes the JSON file when one is wanted. */
export function publish(report: Report, json: string | undefined): void {
  for (const line of linesOf(report)) console.log(line);
  if (json !== undefined) writeFileSync(json, `${JSON.stringify(report, null, 2)}\n`);
}

function linesOf(report: Report): string[] {
  const { machine, options, latencyMs, processes } = report;
  const tls = options.tls ? 'mutual TLS' : 'plain';
  const ms = (value: number) => value.toFixed(2);
  const lines = [
    `${report.workload}: ${whole(options.sizeBytes)} bytes, ${options.inFlight} in flight, ${tls}`,
    `  machine     ${machine.processors}, Node ${machine.node}, ${machine.system}`,
    `  throughput  ${whole(report.perSecond)} /s, ${report.megabytesPerSecond.toFixed(1)} MB/s`,
    `  latency ms  p50 ${ms(latencyMs.p50)}  p99 ${ms(latencyMs.p99)}  ` +
      `p99.9 ${ms(latencyMs.p999)}  max ${ms(latencyMs.max)}`,
  ];
  for (const { role, cpuSeconds, memoryBytes, peakMemoryBytes } of processes) {
    lines.push(
      `  ${role.padEnd(10)}  CPU ${cpuSeconds.toFixed(2)} s of ${report.seconds} s, ` +
        `memory ${mebibytes(memoryBytes)}, at most ${mebibytes(peakMemoryBytes)}`,
    );
  }
  lines.push(
    `  CPU         servers ${report.serverCpuMicrosPerRequest.toFixed(1)} µs a request ` +
      `(${report.serverCpuSecondsPerGigabyte.toFixed(1)} s/GB), ` +
      `client ${report.clientCpuMicrosPerRequest.toFixed(1)} µs`,
  );
  return [...lines, ...floorLines(report)];
}

function floorLines({ floors, ratios }: Report): string[] {
  if (floors === undefined) return [];
  const { transport, fdatasync, disk } = floors;
  const ratio = (name: string) => percent(ratios[name] ?? 0);
  return [
    `  floors      transport ${whole(transport.messagesPerSecond)} messages/s, ` +
      `${whole(transport.megabytesPerSecond)} MB/s, ` +
      `${transport.cpuMicrosPerMessage.toFixed(1)} µs CPU a message`,
    `              fdatasync p50 ${fdatasync.p50Ms.toFixed(2)} ms, ` +
      `p99 ${fdatasync.p99Ms.toFixed(2)} ms; ` +
      `disk ${whole(disk.megabytesPerSecond)} MB/s of synced 1 MiB writes, ` +
      `${disk.cpuSecondsPerGigabyte.toFixed(2)} s CPU a GB`,
    `  to floors   ${ratio('requestsToTransportMessages')} of the transport's messages, ` +
      `${ratio('bytesToTransportBytes')} of its bytes, ` +
      `${ratio('bytesToDiskBytes')} of the disk's bytes; ` +
      `p50 is ${(ratios['p50ToFdatasyncP50'] ?? 0).toFixed(1)} fdatasyncs`,
  ];
}
