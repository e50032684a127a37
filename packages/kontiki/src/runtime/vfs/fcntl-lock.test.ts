import assert from 'node:assert/strict';
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { tryLockFile } from './fcntl-lock.js';

/**
 * Takes the lock as the Java implementation does, says `locked` or `refused`, and holds it until
 * its input ends.
 */
const JAVA_HOLDER = `
import java.io.RandomAccessFile;
import java.nio.channels.FileLock;

public class Holder {
  public static void main(String[] args) throws Exception {
    RandomAccessFile file = new RandomAccessFile(args[0], "rws");
    FileLock lock = file.getChannel().tryLock();
    System.out.println(lock == null ? "refused" : "locked");
    System.out.flush();
    if (lock != null) System.in.read();
  }
}
`;

const NODE_HOLDER = `
import { tryLockFile } from ${JSON.stringify(new URL('./fcntl-lock.js', import.meta.url).href)};
const lock = await tryLockFile(process.argv[1], 'child');
console.log(lock === undefined ? 'refused' : 'locked');
if (lock !== undefined) process.stdin.resume();
`;

const hasJava = spawnSync('java', ['-version']).status === 0;
const javaOptions = hasJava ? {} : { skip: 'no `java` on the PATH' };
const isLinux = process.platform === 'linux';

async function folderOf(t: TestContext): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'kontiki-lock-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a holder; its process and what it said first. */
async function start(
  t: TestContext,
  command: string,
  args: readonly string[],
): Promise<{ child: ChildProcess; answer: string }> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => {
    child.kill('SIGKILL');
  });
  const { stdout } = child;
  assert.ok(stdout);
  const [answer] = (await once(createInterface(stdout), 'line')) as [string];
  return { child, answer };
}

const startNode = (t: TestContext, path: string) =>
  start(t, process.execPath, ['--input-type=module', '-e', NODE_HOLDER, path]);

async function startJava(t: TestContext, folder: string, path: string) {
  const source = join(folder, 'Holder.java');
  await writeFile(source, JAVA_HOLDER);
  return start(t, 'java', [source, path]);
}

test('a lock excludes another of the same process until it is released', async (t) => {
  const path = join(await folderOf(t), 'in_use.lock');
  const first = await tryLockFile(path, 'me');
  assert.ok(first !== undefined);
  assert.equal(await tryLockFile(path, 'me'), undefined);
  await first.release();
  await first.release();
  const second = await tryLockFile(path, 'me');
  assert.ok(second !== undefined);
  await second.release();
});

test('the owner is written over the start of the file, which is not truncated', async (t) => {
  const path = join(await folderOf(t), 'in_use.lock');
  await writeFile(path, '123456@somewhere');
  const lock = await tryLockFile(path, '7@here');
  assert.equal(await readFile(path, 'utf8'), '7@here@somewhere');
  await lock?.release();
});

test('a lock is not lost when the process opens and closes the file elsewhere', async (t) => {
  const path = join(await folderOf(t), 'in_use.lock');
  const lock = await tryLockFile(path, 'me');
  await readFile(path);
  assert.equal((await startNode(t, path)).answer, 'refused');
  await lock?.release();
});

test('another process is excluded, and killing the holder frees the lock', async (t) => {
  const path = join(await folderOf(t), 'in_use.lock');
  const { child, answer } = await startNode(t, path);
  assert.equal(answer, 'locked');
  assert.equal(await tryLockFile(path, 'me'), undefined);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const lock = await tryLockFile(path, 'me');
  assert.ok(lock !== undefined, 'the lock file that is left over means nothing');
  assert.equal((await startNode(t, path)).answer, 'refused');
  await lock.release();
});

test('a Java process is excluded, and excludes us (spec: storage 1.6)', javaOptions, async (t) => {
  if (!isLinux) return t.skip('the lock of this platform does not exclude Java');
  const folder = await folderOf(t);
  const path = join(folder, 'in_use.lock');
  const lock = await tryLockFile(path, 'me');
  assert.equal((await startJava(t, folder, path)).answer, 'refused');
  await lock?.release();
  const { child, answer } = await startJava(t, folder, path);
  assert.equal(answer, 'locked');
  assert.equal(await tryLockFile(path, 'me'), undefined);
  child.kill('SIGKILL');
  await once(child, 'exit');
  const again = await tryLockFile(path, 'me');
  assert.ok(again !== undefined);
  await again.release();
});
