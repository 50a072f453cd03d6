import type { FileHandle } from 'node:fs/promises';
import { resolve as absolute } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

import { DecorumError } from '@decorum/core';
import { requireOptions } from '@decorum/core/plugin';
import { type FolderUse, invalidFolder, lockFolder } from '@decorum/files';

import { Folder } from './folder.js';
import { Processes } from './processes.js';
import { Queue } from './queue.js';
import { TaskCache } from './task-cache.js';
import { isOwn } from './task-file.js';
import { type IndexedTask, TaskIndex } from './task-index.js';
import type { OpenTask, StoredTask, TaskCounts, TaskPage, TaskStore, TaskStoreServer } from './task-store.js';

/** Options of `fileTasks`. */
export interface FileTasksOptions {
  /**
   * Whether to only read, which also works while another process has the folder. Shows the tasks as they were when the
   * store was opened. Defaults to false.
   */
  readonly readOnly?: boolean;
}

/** What users call, for errors. */
const CALLER = 'fileTasks';

/** Files that are written at once. More would take longer, because a disk has one head or queue. */
const WRITES = 16;

const SYSTEM_CLOCK: FolderUse['clock'] = { now: () => Date.now(), wait: async (ms) => await wait(ms) };

/** Keeps tasks in a folder: a file for each. Everything but their texts is in memory, too, and so are recent texts. */
export class FileTasks implements TaskStore {
  readonly isDurable = true;
  private readonly folder: Folder;
  private readonly index: TaskIndex<IndexedTask>;
  private readonly recent = new TaskCache();
  private readonly queue = new Queue(WRITES);
  private readonly processes: Processes;
  private readonly isReadOnly: boolean;
  private server: TaskStoreServer | undefined;
  private lock: FileHandle | undefined;
  private isClosed = false;

  constructor(
    folder: string,
    { readOnly = false }: FileTasksOptions = {},
    private readonly clock = SYSTEM_CLOCK,
  ) {
    this.folder = new Folder(folder);
    this.isReadOnly = readOnly;
    this.index = new TaskIndex(
      () => clock.now(),
      (id) => this.forget(id),
    );
    this.processes = new Processes(() => clock.now());
  }

  reader(): TaskStore {
    return new FileTasks(this.folder.path, { readOnly: true }, this.clock);
  }

  async open(server: TaskStoreServer): Promise<void> {
    this.server = server;
    try {
      if (!this.isReadOnly) await this.take();
      for await (const { text: _text, ...facts } of this.folder.readAll((file, error) => this.setAside(file, error))) {
        this.index.put(facts);
      }
      if (this.isClosed) throw invalidFolder(CALLER, 'was closed before it was open');
    } catch (error) {
      await this.close();
      if (error instanceof DecorumError) throw error;
      const { message, code } = error as NodeJS.ErrnoException;
      const remedy = code === undefined ? '' : '. Pass a folder on a local disk that the process can write to';
      throw invalidFolder(CALLER, `can't be used: ${message}${remedy}`, error);
    }
  }

  /** Completes the writes that have begun. */
  async close(): Promise<void> {
    this.isClosed = true;
    this.index.close();
    await this.queue.idle();
    const { lock } = this;
    this.lock = undefined;
    await lock?.close();
  }

  async get(id: string): Promise<StoredTask | undefined> {
    return this.cached(id) ?? (this.index.get(id) && (await this.queue.run(id, async () => await this.load(id))));
  }

  async set(task: StoredTask): Promise<boolean> {
    this.requireWritable();
    return await this.queue.run(task.id, async () => {
      if ((this.index.get(task.id)?.version ?? 0) !== task.version - 1) return false;
      await this.folder.write(task);
      // not before: what depends on the answer would not survive a crash
      await this.folder.sync().finally(() => this.put(task));
      return true;
    });
  }

  async delete(id: string): Promise<void> {
    this.requireWritable();
    await this.queue.run(id, async () => {
      if (this.index.get(id) === undefined) return;
      await this.folder.remove(id);
      this.drop(id);
      await this.folder.sync();
    });
  }

  async list(owner: string, { after, limit }: TaskPage): Promise<readonly StoredTask[]> {
    const found: StoredTask[] = [];
    let last = after;
    for (;;) {
      const wanted = limit - found.length;
      const page = this.index.list(owner, { limit: wanted, ...(last && { after: last }) });
      const tasks = await Promise.all(page.map(async ({ id }) => await this.get(id)));
      // files may have been removed by hand
      found.push(...tasks.filter((task) => task !== undefined));
      if (page.length < wanted || found.length === limit) return found;
      last = page.at(-1);
    }
  }

  openTasks(): readonly OpenTask[] {
    return this.index.openTasks();
  }

  count(owner: string): TaskCounts {
    return this.index.count(owner);
  }

  beat(process: string, ttlMs: number): void {
    this.processes.beat(process, ttlMs);
  }

  lives(process: string): boolean {
    return this.processes.lives(process);
  }

  end(process: string): void {
    this.processes.end(process);
  }

  /** Takes the folder, and removes what processes have left that died while they wrote. */
  private async take(): Promise<void> {
    this.lock = await lockFolder({
      folder: this.folder.path,
      caller: CALLER,
      example: 'tasks',
      isOwn,
      isCancelled: () => this.isClosed,
      clock: this.clock,
    });
    await this.folder.tidy();
  }

  private requireWritable(): void {
    if (this.isReadOnly) throw new Error('The store of tasks was opened to be read only.');
    if (this.lock === undefined || this.isClosed) throw new Error('The store of tasks is not open.');
  }

  private cached(id: string): StoredTask | undefined {
    return this.index.get(id) && this.recent.get(id);
  }

  /** Reads a task from its file. One that isn't there any more, or can't be read, is forgotten. */
  private async load(id: string): Promise<StoredTask | undefined> {
    const known = this.cached(id);
    if (known !== undefined || this.index.get(id) === undefined) return known;
    const task = await this.folder.read(id, async (file, error) => await this.setAside(file, error));
    if (task === undefined) this.drop(id);
    else this.recent.set(task);
    return task;
  }

  private put(task: StoredTask): void {
    const { text: _text, ...facts } = task;
    this.recent.set(task);
    this.index.put(facts);
  }

  private drop(id: string): void {
    this.recent.delete(id);
    this.index.delete(id);
  }

  /** Removes the file of a task that has expired, unless there is a new one. */
  private forget(id: string): void {
    this.recent.delete(id);
    if (this.isReadOnly) return;
    const remove = async () => {
      if (this.index.get(id) === undefined) await this.folder.remove(id);
    };
    this.queue.run(id, remove).catch((error: unknown) => {
      this.server?.report(error, 'The file of an expired task can not be removed.');
    });
  }

  private async setAside(file: string, error: unknown): Promise<void> {
    const aside = this.isReadOnly ? file : await this.folder.setAside(file);
    this.server?.report(error, `A file of a task can not be read, and is left out: ${aside}`);
  }
}

/**
 * Keeps tasks in a folder, for servers of one process. They survive its end, however it ends: once a call has been
 * answered, what it has written is on the disk. The folder and its files can only be read by the user of the process.
 * While another process uses the folder, the server waits for up to 30 seconds before it fails to start. If a file
 * can't be read, that is reported, and the file is renamed, to `….unreadable`.
 * @param folder is created. It must be on a local disk
 * @throws {DecorumError} `DECORUM_INVALID_OPTION`
 * @example
 * ```ts
 * import { McpServer } from '@decorum/core';
 * import { fileTasks, tasks } from '@decorum/tasks';
 *
 * // and DECORUM_SECRET in the environment
 * new McpServer({ name: 'reports', version: '1.0.0', plugins: [tasks({ store: fileTasks('data/tasks') })] });
 * ```
 */
export function fileTasks(folder: string, options: FileTasksOptions = {}): TaskStore {
  if (typeof folder !== 'string' || folder === '') {
    throw invalidFolder(CALLER, 'must be the path of a folder, such as "data/tasks"');
  }
  requireOptions(CALLER, options, { readOnly: 'boolean' });
  return new FileTasks(absolute(folder), options);
}
