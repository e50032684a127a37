import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Command, Option } from 'commander';
import {
  FileStoreClient,
  generateLoad,
  hashFile,
  type LoadResult,
  localSource,
  uploadFile,
  verifyFiles,
} from '../../examples/filestore/index.js';
import { CliError } from '../cli-error.js';
import { addClientOptions, type ClientOptions, withClient } from '../client.js';
import type { ConsoleIo } from '../console-io.js';
import { DEMO_GROUP_ID } from '../machines.js';
import { integerFrom, reasonOf } from '../options.js';

interface TransferOptions extends ClientOptions {
  readonly bufferSize: number;
  readonly inFlight: number;
}

interface LoadgenOptions extends TransferOptions {
  readonly numFiles: number;
  readonly size: number;
  readonly sync?: boolean;
  readonly verify?: boolean;
}

interface SizedOptions extends TransferOptions {
  readonly size: number;
}

function addTransferOptions(command: Command): Command {
  command
    .addOption(
      new Option('--bufferSize <bytes>', 'bytes of one request')
        .argParser(integerFrom(1))
        .default(1 << 20, '1 MiB'),
    )
    .addOption(
      new Option('--inFlight <number>', 'requests without an answer')
        .argParser(integerFrom(1))
        .default(8),
    );
  return addClientOptions(command, DEMO_GROUP_ID, 'demoRaftGroup123');
}

function sizeOption(text: string): Option {
  return new Option('--size <bytes>', text).argParser(integerFrom(0)).makeOptionMandatory();
}

/**
 * `kontiki filestore loadgen|put|get|read`: the client of the file store example (spec: examples
 * 5.5, 5.6).
 */
export function addFilestoreCommand(program: Command, io: ConsoleIo): void {
  const filestore = program.command('filestore').description('talk to the file store example');
  const loadgen = filestore
    .command('loadgen')
    .description('write random files')
    .addOption(
      new Option('--numFiles <number>', 'how many files')
        .argParser(integerFrom(1))
        .makeOptionMandatory(),
    )
    .addOption(sizeOption('bytes of each file'))
    .option('--sync', 'ask servers to sync every write; Kontiki servers always do')
    .option('--verify', 'read everything back and compare SHA-256');
  addTransferOptions(loadgen).action((options: LoadgenOptions) => runLoadgen(options, io));
  const put = filestore
    .command('put')
    .description('store a local file; prints its SHA-256')
    .argument('<file>', 'the local file')
    .argument('[path]', 'its path in the file store; default: its name');
  addTransferOptions(put).action(
    (file: string, path: string | undefined, options: TransferOptions) =>
      runPut(file, path ?? basename(file), options, io),
  );
  const get = filestore
    .command('get')
    .description('fetch a file')
    .argument('<path>', 'its path in the file store')
    .argument('<file>', 'the local file to write')
    .addOption(sizeOption('bytes to fetch'));
  addTransferOptions(get).action((path: string, file: string, options: SizedOptions) =>
    runGet(path, file, options, io),
  );
  const read = filestore
    .command('read')
    .description('read files and print their SHA-256')
    .argument('<paths...>', 'paths in the file store')
    .addOption(sizeOption('bytes of each file'));
  addTransferOptions(read).action((paths: string[], options: SizedOptions) =>
    runRead(paths, options, io),
  );
}

function transferOf({ bufferSize, inFlight }: TransferOptions) {
  return { bufferBytes: bufferSize, inFlight };
}

async function runLoadgen(options: LoadgenOptions, io: ConsoleIo): Promise<void> {
  const transfer = transferOf(options);
  await withClient(options, io, async (client, alive) => {
    const files = new FileStoreClient(client);
    const result = await generateLoad(files, {
      ...transfer,
      numFiles: options.numFiles,
      sizeBytes: options.size,
      sync: options.sync ?? false,
      onWritten: alive,
    });
    reportLoad(result, options, io);
    if (options.verify !== true) return;
    const readBack = { ...transfer, onRead: alive };
    const different = await verifyFiles(files, result.files, readBack);
    if (different.length > 0) throw new CliError(`SHA-256 differs: ${different.join(', ')}`);
    io.out.write(`Verified: SHA-256 of ${result.files.length} files\n`);
  });
}

function reportLoad(result: LoadResult, options: LoadgenOptions, io: ConsoleIo): void {
  const { files, totalBytes, elapsedMs } = result;
  for (const { path, sha256 } of files) io.out.write(`${sha256}  ${path}\n`);
  const rate = totalBytes / 1e3 / Math.max(elapsedMs, 1);
  io.out.write(
    `Total files written: ${files.length}\nEach files size: ${options.size}\n` +
      `Total data written: ${totalBytes} bytes\n` +
      `Total time taken: ${Math.round(elapsedMs)} millis\nRate: ${rate.toFixed(1)} MB/s\n`,
  );
}

async function runPut(
  file: string,
  path: string,
  options: TransferOptions,
  io: ConsoleIo,
): Promise<void> {
  const sizeBytes = await sizeOf(file);
  const handle = await open(file, 'r');
  try {
    const written = await withClient(options, io, (client, alive) =>
      uploadFile(new FileStoreClient(client), localSource(path, handle, sizeBytes), {
        ...transferOf(options),
        onWritten: alive,
      }),
    );
    io.out.write(`${written.sha256}  ${path} ${sizeBytes}\n`);
  } finally {
    await handle.close();
  }
}

async function sizeOf(file: string): Promise<number> {
  try {
    return (await stat(file)).size;
  } catch (error) {
    throw new CliError(`cannot read ${file}: ${reasonOf(error)}`, undefined, { cause: error });
  }
}

async function runGet(
  path: string,
  file: string,
  options: SizedOptions,
  io: ConsoleIo,
): Promise<void> {
  await withClient(options, io, async (client, alive) => {
    const target = createWriteStream(file);
    const failed = once(target, 'close');
    failed.catch(() => undefined);
    const pieces = new FileStoreClient(client).readAll(path, options.size, {
      pieceBytes: options.bufferSize,
      inFlight: options.inFlight,
    });
    try {
      for await (const piece of pieces) {
        alive();
        if (!target.write(piece)) await Promise.race([once(target, 'drain'), failed]);
      }
    } finally {
      target.end();
      await failed;
    }
  });
  io.out.write(`${path} -> ${file} (${options.size} bytes)\n`);
}

async function runRead(paths: string[], options: SizedOptions, io: ConsoleIo): Promise<void> {
  await withClient(options, io, async (client, alive) => {
    const files = new FileStoreClient(client);
    for (const path of paths) {
      const transfer = { ...transferOf(options), onRead: alive };
      const sha256 = await hashFile(files, path, options.size, transfer);
      io.out.write(`${sha256}  ${path}\n`);
    }
  });
}
