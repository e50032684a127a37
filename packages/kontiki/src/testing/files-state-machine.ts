import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { TermIndex } from '../protocol/term-index.js';
import type { SnapshotInfo, StateMachineServer } from '../statemachine/types.js';
import type { RaftStorage } from '../storage/types.js';
import { RecordingStateMachine } from './recording-state-machine.js';

const NAME = /^state\.(\d+)_(\d+)$/;

/**
 * A state machine for tests whose snapshots are several files in a folder of their own: one with
 * the texts, one that is large, and an empty one. None has a digest.
 */
export class FilesStateMachine extends RecordingStateMachine {
  /** Size of the large file. */
  static readonly LARGE_BYTES = 100_000;
  readonly calls: string[] = [];
  /** Where its snapshots are. */
  directory = '';
  #latest: SnapshotInfo | undefined;

  override async initialize(server: StateMachineServer, storage: RaftStorage): Promise<void> {
    this.directory = storage.stateMachineDirectory;
    await super.initialize(server, storage);
    await this.#loadFiles();
  }

  override async reinitialize(): Promise<void> {
    this.calls.push('reinitialize');
    await super.reinitialize();
    await this.#loadFiles();
  }

  override pause(): void {
    this.calls.push('pause');
  }

  override getLatestSnapshot(): SnapshotInfo | undefined {
    return this.#latest;
  }

  override async cleanupOldSnapshots(): Promise<void> {
    for (const { name } of await this.#found()) {
      const folder = join(this.directory, name);
      if (!this.#latest?.files[0]?.path.startsWith(`${folder}/`))
        await rm(folder, { recursive: true });
    }
  }

  override async takeSnapshot(): Promise<number> {
    const { term, index } = this.lastAppliedTermIndex;
    const folder = join(this.directory, `state.${term}_${index}`);
    const texts = this.applied.join(',');
    await mkdir(join(folder, 'more'), { recursive: true });
    await writeFile(join(folder, 'empty'), '');
    await writeFile(
      join(folder, 'more', 'large'),
      new Uint8Array(FilesStateMachine.LARGE_BYTES).fill(7),
    );
    await writeFile(join(folder, 'texts'), texts);
    this.#latest = await describe(folder, { term, index });
    return index;
  }

  async #found(): Promise<{ name: string; termIndex: TermIndex }[]> {
    const names = await readdir(this.directory).catch(() => []);
    return names.flatMap((name) => {
      const match = NAME.exec(name);
      if (match === null) return [];
      return [{ name, termIndex: { term: Number(match[1]), index: Number(match[2]) } }];
    });
  }

  async #loadFiles(): Promise<void> {
    const found = await this.#found();
    const newest = found.sort((a, b) => b.termIndex.index - a.termIndex.index)[0];
    if (newest === undefined) return;
    const folder = join(this.directory, newest.name);
    this.#latest = await describe(folder, newest.termIndex);
    const content = (await readFile(join(folder, 'texts'))).toString();
    this.applied.splice(0, this.applied.length, ...content.split(','));
    this.notifyTermIndexUpdated(newest.termIndex.term, newest.termIndex.index);
  }
}

async function describe(folder: string, termIndex: TermIndex): Promise<SnapshotInfo> {
  const files = ['empty', join('more', 'large'), 'texts'].map(async (name) => {
    const path = join(folder, name);
    return { path, sizeBytes: (await stat(path)).size, digest: undefined };
  });
  return { termIndex, files: await Promise.all(files) };
}
