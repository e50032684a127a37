import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { TestContext } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createCertificateAuthority } from '../runtime/certificates.js';
import { runCli } from './main.js';

const RUN = fileURLToPath(new URL('./run.js', import.meta.url));

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** Runs a command in this process. */
export async function kontiki(...args: string[]): Promise<CommandResult> {
  let out = '';
  let err = '';
  const code = await runCli(args, {
    out: { write: (text) => (out += text) },
    err: { write: (text) => (err += text) },
  });
  return { code, out, err };
}

/** Runs a command in a process of its own. */
export async function kontikiProcess(...args: string[]): Promise<CommandResult> {
  const child = spawn(process.execPath, [RUN, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let out = '';
  let err = '';
  child.stdout.on('data', (data: Buffer) => (out += data.toString()));
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  const [code] = (await once(child, 'close')) as [number];
  return { code, out, err };
}

/** A `kontiki server` in a process of its own, ready. It is killed when the test is over. */
export async function startServer(t: TestContext, ...args: string[]): Promise<ChildProcess> {
  const child = spawn(process.execPath, [RUN, 'server', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  let err = '';
  child.stderr.on('data', (data: Buffer) => (err += data.toString()));
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.startsWith('ready ')) return child;
  }
  throw new Error(`the server ended: ${err}`);
}

/** Asks a process to end; its exit status. */
export async function stopped(child: ChildProcess, signal: NodeJS.Signals): Promise<unknown> {
  const exit = once(child, 'exit');
  child.kill(signal);
  return (await exit)[0];
}

/** A folder that goes when the test is over. */
export async function temporaryFolder(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kontiki-cli-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Ports of this machine that are free now. */
export async function freePorts(count: number): Promise<number[]> {
  const listeners = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(listeners.map((listener) => once(listener, 'listening')));
  const ports = listeners.map((listener) => {
    const address = listener.address();
    return typeof address === 'object' && address !== null ? address.port : 0;
  });
  await Promise.all(listeners.map((listener) => once(listener.close(), 'close')));
  return ports;
}

/** Certificates in a folder: an authority's and one that it signed; the options that name them. */
export async function tlsOptions(folder: string, name: string): Promise<string[]> {
  const authority = createCertificateAuthority(`authority of ${name}`);
  const issued = authority.issue({ commonName: name, ipAddresses: ['127.0.0.1'] });
  const [ca, cert, key] = ['ca', 'cert', 'key'].map((kind) => join(folder, `${name}-${kind}.pem`));
  if (ca === undefined || cert === undefined || key === undefined) throw new Error('unreachable');
  await writeFile(ca, authority.certificatePem);
  await writeFile(cert, issued.certificatePem);
  await writeFile(key, issued.keyPem);
  return ['--tls-ca', ca, '--tls-cert', cert, '--tls-key', key];
}
