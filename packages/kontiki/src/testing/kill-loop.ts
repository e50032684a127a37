/**
 * Kills servers of a group again and again while clients write, and checks that nothing which was
 * acknowledged is lost, and nothing applied twice.
 *
 *   npm run test:kill -- [--runs 20] [--seconds 60] [--kills 6] [--writes 50000] [--seed N]
 *                        [--json FILE] [--plain] [--keep]
 *
 * Each run has three server processes with mutual TLS and log segments of 1 MB. `--keep` leaves the
 * files of a run that failed; `--plain` goes without TLS. The seed of a run chooses servers and
 * moments; the n-th run has the seed N + n.
 */
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { messageOf } from '../common/errors.js';
import { type KillProgress, type KillReport, runKills } from './kill/kill-run.js';

interface LoopOptions {
  readonly runs: number;
  readonly seconds: number;
  readonly kills: number;
  readonly writes: number;
  readonly seed: number;
  readonly json: string | undefined;
  readonly plain: boolean;
  readonly keep: boolean;
}

const print = (text: string) => process.stdout.write(`${text}\n`);

function parseOptions(): LoopOptions {
  const { values } = parseArgs({
    options: {
      runs: { type: 'string', default: '20' },
      seconds: { type: 'string', default: '60' },
      kills: { type: 'string', default: '6' },
      writes: { type: 'string', default: '50000' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
      json: { type: 'string' },
      plain: { type: 'boolean', default: false },
      keep: { type: 'boolean', default: false },
    },
  });
  const count = (name: 'runs' | 'seconds' | 'kills' | 'writes' | 'seed'): number => {
    const value = Number(values[name]);
    const least = name === 'seed' ? 0 : 1;
    if (Number.isInteger(value) && value >= least) return value;
    throw new Error(`--${name} ${values[name]}: not a whole number from ${least} on`);
  };
  return {
    runs: count('runs'),
    seconds: count('seconds'),
    kills: count('kills'),
    writes: count('writes'),
    seed: count('seed'),
    json: values.json,
    plain: values.plain,
    keep: values.keep,
  };
}

function showProgress(name: string): (progress: KillProgress) => void {
  if (!process.stdout.isTTY) return () => undefined;
  return ({ acknowledged, elapsedMs, kills }) => {
    const seconds = (elapsedMs / 1_000).toFixed(0);
    const text = `${name}: ${seconds} s, ${acknowledged} writes, ${kills.length} kills`;
    process.stdout.write(`\r${text}\x1b[K`);
  };
}

function summaryOf(name: string, report: KillReport): string {
  const { ordered, unordered } = report.acknowledged;
  const leaders = report.kills.filter(({ role }) => role === 'leader').length;
  return [
    `${name}: ${report.passed ? 'passed' : 'FAILED'}`,
    `${ordered + unordered} writes (${ordered} ordered, ${unordered} unordered)`,
    `in ${(report.writingMs / 1_000).toFixed(1)} s`,
    `${report.kills.length} kills (${leaders} of leaders)`,
    `${report.lost} lost`,
    `${report.appliedTwice} applied twice`,
    `${report.outOfOrder} out of order`,
    report.equal ? 'all equal' : 'NOT EQUAL',
    `longest pause ${report.longestPauseMs} ms`,
  ].join(', ');
}

async function main(): Promise<void> {
  const options = parseOptions();
  const reports: KillReport[] = [];
  for (let i = 0; i < options.runs; i++) {
    const seed = options.seed + i;
    const name = `run ${i + 1} of ${options.runs}, seed ${seed}`;
    const report = await runKills({
      seed,
      seconds: options.seconds,
      kills: options.kills,
      writes: options.writes,
      tls: !options.plain,
      keepFiles: options.keep,
      onProgress: showProgress(name),
    });
    reports.push(report);
    print(`${process.stdout.isTTY ? '\r\x1b[K' : ''}${summaryOf(name, report)}`);
    for (const finding of report.findings) print(`  ${finding}`);
    if (report.directory !== undefined) print(`  files: ${report.directory}`);
    if (options.json !== undefined) {
      const { node } = process.versions;
      writeFileSync(options.json, `${JSON.stringify({ node, options, reports }, null, 2)}\n`);
    }
  }
  const failed = reports.filter(({ passed }) => !passed).length;
  print(failed === 0 ? `all ${reports.length} runs passed` : `${failed} runs FAILED`);
  process.exitCode = failed === 0 ? 0 : 1;
}

// Ending through `exit` takes the servers along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
main().catch((error) => {
  process.stderr.write(`kill loop: ${messageOf(error)}\n`);
  process.exit(1);
});
