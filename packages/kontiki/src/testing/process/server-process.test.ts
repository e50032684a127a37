import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readProcessUsage } from './process-usage.js';
import { ServerProcess } from './server-process.js';

const directory = mkdtempSync(join(tmpdir(), 'kontiki-process-'));
after(() => rmSync(directory, { recursive: true, force: true }));

function start(program: string, readyTimeoutMs = 20_000): Promise<ServerProcess> {
  return ServerProcess.start({
    id: 'n0',
    arguments: ['-e', program],
    logPath: join(directory, 'server.log'),
    readyTimeoutMs,
  });
}

const READY = "console.log('starting'); console.log('ready n0'); setInterval(() => {}, 1000);";

test('waits for the ready line, and ends the process as a crash would', async () => {
  const server = await start(READY);
  assert.equal(server.isRunning, true);
  assert.deepEqual(await server.kill(), { code: null, signal: 'SIGKILL' });
  assert.equal(server.isRunning, false);
  assert.equal(server.hasFailed, false);
});

test('stops a process that closes orderly', async () => {
  const server = await start(`process.on('SIGTERM', () => process.exit(0)); ${READY}`);
  await server.stop(20_000);
  assert.equal(server.isRunning, false);
});

test('says so when a process ends with another code than 0', async () => {
  const server = await start(`process.on('SIGTERM', () => process.exit(3)); ${READY}`);
  await assert.rejects(server.stop(20_000), /n0 ended with 3/);
});

test('kills a process that does not close', async () => {
  const server = await start(`process.on('SIGTERM', () => {}); ${READY}`);
  await assert.rejects(server.stop(50), /n0 did not close within 50 ms/);
  assert.equal(server.isRunning, false);
});

test('a process that ends before it is ready is an error with the end of its log', async () => {
  await assert.rejects(start("console.error('the port is taken'); process.exit(1)"), (error) => {
    assert.match(String(error), /n0: ended with 1; its log ends with:\nthe port is taken/);
    return true;
  });
});

test('a process that is not ready in time is killed', async () => {
  await assert.rejects(start('setInterval(() => {}, 1000)', 300), /not ready within 300 ms/);
});

test('notes that a process ended by itself', async () => {
  const server = await start(
    "console.log('ready n0'); console.error('failed'); process.exitCode = 1",
  );
  await server.exited;
  assert.equal(server.hasFailed, true);
  assert.match(server.logTail, /failed/);
});

test('reads what a process uses', { skip: process.platform !== 'linux' }, () => {
  const usage = readProcessUsage(process.pid);
  assert.ok(usage !== undefined && usage.cpuSeconds > 0);
  assert.ok(usage.memoryBytes > 1e6 && usage.peakMemoryBytes >= usage.memoryBytes);
  assert.equal(readProcessUsage(2 ** 30), undefined);
});
