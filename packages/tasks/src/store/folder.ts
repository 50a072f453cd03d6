import { readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';

import { replaceFile, syncFolder } from '@decorum/files';

import { asideOf, decoded, draftOf, encoded, fileOf, isDraft, isTaskFile, NewerFormat } from './task-file.js';
import type { StoredTask } from './task-store.js';

/** Files that are read at once. */
const READS = 32;

/** Called for a file whose content isn't that of a task. */
type OnUnreadable = (file: string, error: unknown) => Promise<void>;

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

/** The files of tasks in a folder: one for each. */
export class Folder {
  private running: Promise<void> | undefined;
  private next: Promise<void> | undefined;

  constructor(readonly path: string) {}

  /** Removes what processes have left that died while they wrote. */
  async tidy(): Promise<void> {
    const drafts = (await readdir(this.path)).filter(isDraft);
    await Promise.all(drafts.map(async (draft) => await rm(join(this.path, draft), { force: true })));
  }

  /** Reads all tasks, in any order. */
  async *readAll(onUnreadable: OnUnreadable): AsyncGenerator<StoredTask> {
    const files = (await readdir(this.path)).filter(isTaskFile);
    for (let at = 0; at < files.length; at += READS) {
      const some = files.slice(at, at + READS);
      const tasks = await Promise.all(some.map(async (file) => await this.readFile(file, onUnreadable)));
      yield* tasks.filter((task) => task !== undefined);
    }
  }

  /**
   * Renames a file that can't be read, so that it isn't in the way.
   * @returns the new path
   */
  async setAside(file: string): Promise<string> {
    const aside = join(this.path, asideOf(file));
    await rename(join(this.path, file), aside);
    return aside;
  }

  /** Reads a task; undefined if there is none. */
  async read(id: string, onUnreadable: OnUnreadable): Promise<StoredTask | undefined> {
    return await this.readFile(fileOf(id), onUnreadable);
  }

  /** Writes a task. Once it has resolved, the task survives a crash. */
  async write(task: StoredTask): Promise<void> {
    const file = join(this.path, fileOf(task.id));
    await replaceFile(file, draftOf(file), encoded(task));
  }

  async remove(id: string): Promise<void> {
    await rm(join(this.path, fileOf(id)), { force: true });
  }

  /** Makes earlier changes survive a crash. Those that arrive during a sync share the next one. */
  async sync(): Promise<void> {
    const { running } = this;
    if (running === undefined) return await this.begin();
    this.next ??= running.catch(() => {}).then(async () => await this.begin());
    return await this.next;
  }

  private async begin(): Promise<void> {
    this.next = undefined;
    this.running = syncFolder(this.path).finally(() => (this.running = undefined));
    await this.running;
  }

  private async readFile(file: string, onUnreadable: OnUnreadable): Promise<StoredTask | undefined> {
    try {
      return decoded(await readFile(join(this.path, file)), file);
    } catch (error) {
      if (isMissing(error)) return undefined;
      // the disk fails, or a newer version has written the file: it may be fine
      if (error instanceof NewerFormat || (error as NodeJS.ErrnoException).code !== undefined) throw error;
      return void (await onUnreadable(file, error));
    }
  }
}
