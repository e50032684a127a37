import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RaftClient } from '../../client/index.js';
import { messageOf } from '../../common/errors.js';
import { COUNTER_GROUP_ID } from '../../examples/counter/index.js';
import { createGroup } from '../../protocol/group.js';
import type { RaftGroupId } from '../../protocol/ids.js';
import { CliError } from '../cli-error.js';
import type { ConsoleIo } from '../console-io.js';
import { createDeferred, type Deferred } from '../deferred.js';
import { DEMO_GROUP_ID } from '../machines.js';
import { type Cluster, createCluster } from './cluster.js';
import { Display } from './display.js';
import { Story } from './story.js';

export interface DemoOptions {
  /** The servers go on. */
  readonly keep: boolean;
}

const STOPPED_BY = 'stopped by';

/** The demonstration takes a third of this on a quiet machine. */
const DEADLINE_MS = 90_000;

/** `kontiki demo`. Rejects with a CliError when anything is not as it should be. */
export async function runDemo(options: DemoOptions, io: ConsoleIo): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'kontiki-demo-'));
  const interrupted = createDeferred<never>();
  const stopListening = listenForInterrupts(interrupted);
  let cluster: Cluster | undefined;
  let isDone = false;
  let wasInterrupted = false;
  try {
    cluster = await createCluster(directory, (file) => readFileSync(file, 'utf8'), options.keep);
    for (const server of cluster.servers) server.onUnexpectedExit = interrupted.reject;
    await withStory(cluster, io, interrupted);
    if (!options.keep) await stopServers(cluster);
    isDone = true;
  } catch (error) {
    // The user has seen enough.
    wasInterrupted = messageOf(error).startsWith(STOPPED_BY);
    if (!wasInterrupted) io.err.write(`The servers' logs are in ${directory}\n`);
    throw error;
  } finally {
    stopListening();
    if (isDone && options.keep && cluster !== undefined) {
      printCommands(cluster, directory, io);
      for (const server of cluster.servers) server.release();
    } else {
      await Promise.all(cluster?.servers.map((server) => server.kill()) ?? []);
      if (isDone || wasInterrupted) await rm(directory, { recursive: true, force: true });
    }
  }
}

function listenForInterrupts(interrupted: Deferred<never>): () => void {
  const onSignal = (signal: string) => interrupted.reject(new CliError(`${STOPPED_BY} ${signal}`));
  process.once('SIGINT', onSignal);
  process.once('SIGTERM', onSignal);
  const deadline = setTimeout(() => {
    interrupted.reject(new CliError(`not done after ${DEADLINE_MS / 1000} s`));
  }, DEADLINE_MS);
  return () => {
    clearTimeout(deadline);
    process.off('SIGINT', onSignal);
    process.off('SIGTERM', onSignal);
  };
}

async function withStory(
  cluster: Cluster,
  io: ConsoleIo,
  interrupted: Deferred<never>,
): Promise<void> {
  const clientOf = (groupId: RaftGroupId) =>
    RaftClient.create({
      group: createGroup(groupId, cluster.peers),
      tls: { default: cluster.tls },
    });
  const counter = clientOf(COUNTER_GROUP_ID);
  const files = clientOf(DEMO_GROUP_ID);
  const story = new Story(cluster, counter, files);
  const display = new Display(io, () => story.status());
  display.start();
  try {
    const told = story.tell(display);
    told.catch(() => undefined);
    await Promise.race([told, interrupted.promise]);
  } finally {
    story.abandon();
    display.stop();
    await Promise.all([counter.close(), files.close()]);
  }
}

async function stopServers(cluster: Cluster): Promise<void> {
  const codes = await Promise.all(cluster.servers.map((server) => server.stop()));
  const bad = codes.findIndex((code) => code !== 0);
  if (bad >= 0) {
    throw new CliError(`server ${cluster.servers[bad]?.id} ended with status ${codes[bad]}`);
  }
}

function printCommands(cluster: Cluster, directory: string, io: ConsoleIo): void {
  const common = `--peers ${cluster.peersText} ${cluster.tlsArguments.join(' ')}`;
  const pids = cluster.servers.map((server) => server.pid).join(' ');
  io.out.write(
    `\nThe servers go on. Talk to them:\n` +
      `  npx kontiki counter increment --count 10 ${common}\n` +
      `  npx kontiki counter get ${common}\n` +
      `  npx kontiki filestore loadgen --numFiles 4 --size 1000000 --verify ${common}\n` +
      `Stop them:\n  kill ${pids}\nTheir folder:\n  ${directory}\n`,
  );
}
